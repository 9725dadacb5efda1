#![allow(missing_docs, clippy::print_stdout)]
use std::time::*; use wharf_core::*; use wharf_state::*;
fn scope(s:&str)->ScopeKey{ScopeKey{tenant:"local".parse().unwrap(),plugin:"planning".parse().unwrap(),kind:ScopeKind::Session,session:Some(s.parse().unwrap()),assistant:None,thread:None,bucket:"main".parse().unwrap()}}
fn pct(mut v:Vec<Duration>)->String{v.sort();format!("p50 {:?} p99 {:?} max {:?}",v[v.len()/2],v[v.len()*99/100],v[v.len()-1])}
#[tokio::test(flavor="multi_thread",worker_threads=2)]
async fn measure(){
 let d=tempfile::tempdir_in(std::env::var("SCRATCH").unwrap_or("/tmp".into())).unwrap();
 let t=Instant::now(); let store=SqliteStore::open(d.path(),SqliteOptions::default()).unwrap(); println!("create {:?}",t.elapsed());
 let store=std::sync::Arc::new(store);
 let policy=Policy{quota_bytes:1<<30,quota_entries:1<<30,idle_expiry:Some(Duration::from_secs(86400))};
 let until=||Instant::now()+Duration::from_secs(60);
 let s=scope("a");
 let t=Instant::now(); store.apply(&s,&policy,vec![Change{key:"first".into(),value:Some(vec![7;200]),if_revision:None}],until()).await.unwrap(); println!("first put {:?}",t.elapsed());
 for batch in 0..20 { let c=(0..1000).map(|i|Change{key:format!("k{:06}",batch*1000+i),value:Some(vec![7;200]),if_revision:None}).collect(); store.apply(&s,&policy,c,until()).await.unwrap(); }
 let mut v=vec![]; for i in 0..20000{let k=[format!("k{:06}",(i*7919)%20000)];let t=Instant::now();let r=store.get_many(&s,&policy,&k,1<<20).await.unwrap();v.push(t.elapsed());assert!(r[0].is_some());}
 println!("get {}",pct(v));
 let mut v=vec![]; for _ in 0..2000{let t=Instant::now();let r=store.scan(&s,&policy,"k01",None,100,1<<20).await.unwrap();v.push(t.elapsed());assert_eq!(r.entries.len(),100);}
 println!("scan100 {}",pct(v));
 let mut v=vec![]; for i in 0..10000{let c=vec![Change{key:format!("k{:06}",(i*7919)%20000),value:Some(vec![8;200]),if_revision:None}];let t=Instant::now();store.apply(&s,&policy,c,until()).await.unwrap();v.push(t.elapsed());}
 println!("put sequential {}",pct(v));
 let t=Instant::now(); let mut set=tokio::task::JoinSet::new();
 for w in 0..64{let store=store.clone();let policy=policy.clone();set.spawn(async move{let s=scope(&format!("w{w}"));for i in 0..500{store.apply(&s,&policy,vec![Change{key:format!("k{i}"),value:Some(vec![8;200]),if_revision:None}],Instant::now()+Duration::from_secs(60)).await.unwrap();}});}
 while let Some(r)=set.join_next().await{r.unwrap();} println!("64 writers {:.0}/s",32000.0/t.elapsed().as_secs_f64());
 let t=Instant::now(); let mut hs=vec![]; for _ in 0..2{let store=store.clone();let policy=policy.clone();hs.push(tokio::spawn(async move{let s=scope("a");for i in 0..50000{let k=[format!("k{:06}",(i*7919)%20000)];store.get_many(&s,&policy,&k,1<<20).await.unwrap();}}));} for h in hs{h.await.unwrap();} println!("2 threads get {:.0}/s",100000.0/t.elapsed().as_secs_f64());
 let t=Instant::now();for i in 0..1000{store.apply(&scope(&format!("n{i}")),&policy,vec![Change{key:"k".into(),value:Some(vec![8;200]),if_revision:None}],until()).await.unwrap();} println!("new scope {:?}",t.elapsed()/1000);
 drop(store);
 let mut v=vec![]; for _ in 0..200{let t=Instant::now();let st=SqliteStore::open(d.path(),SqliteOptions::default()).unwrap();v.push(t.elapsed());drop(st);} println!("open {}",pct(v));
 let mut v=vec![]; for _ in 0..200{let t=Instant::now();let st=SqliteStore::open(d.path(),SqliteOptions::default()).unwrap();st.get_many(&s,&policy,&["first".to_owned()],1000).await.unwrap();v.push(t.elapsed());drop(st);} println!("open+get {}",pct(v));
 let st=SqliteStore::open(d.path(),SqliteOptions{durability:Durability::Power,..Default::default()}).unwrap();
 let mut v=vec![]; for i in 0..200{let c=vec![Change{key:format!("k{i}"),value:Some(vec![8;200]),if_revision:None}];let t=Instant::now();st.apply(&s,&policy,c,until()).await.unwrap();v.push(t.elapsed());} println!("put FULL {}",pct(v));
}
