//! The yardstick of search: tantivy on disk, in this process, with words made
//! as ours are.

use std::path::Path;

use anyhow::{Result, anyhow};
use tantivy::{
    Index, IndexReader, IndexWriter, ReloadPolicy, TantivyDocument, Term,
    collector::TopDocs,
    doc,
    query::{BooleanQuery, Occur, Query, TermQuery},
    schema::{Field, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions, Value as _},
    tokenizer::{AsciiFoldingFilter, Language, LowerCaser, RemoveLongFilter, SimpleTokenizer, Stemmer, TextAnalyzer},
};

/// Bytes that its writer may use.
const WRITER_BYTES: usize = 64 << 20;

pub(crate) struct Tantivy {
    index: Index,
    reader: IndexReader,
    writer: IndexWriter,
    text: Field,
    number: Field,
}

impl Tantivy {
    /// An empty index in a directory.
    pub(crate) fn create(directory: &Path) -> Result<Self> {
        let mut schema = Schema::builder();
        let words = TextFieldIndexing::default().set_tokenizer("words");
        let words = words.set_index_option(IndexRecordOption::WithFreqsAndPositions);
        let text = schema.add_text_field("text", TextOptions::default().set_indexing_options(words));
        let number = schema.add_u64_field("number", STORED);
        let index = Index::create_in_dir(directory, schema.build())?;
        let words = TextAnalyzer::builder(SimpleTokenizer::default())
            .filter(RemoveLongFilter::limit(256))
            .filter(LowerCaser)
            .filter(AsciiFoldingFilter)
            .filter(Stemmer::new(Language::English))
            .build();
        index.tokenizers().register("words", words);
        let writer = index.writer_with_num_threads(1, WRITER_BYTES)?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Self { index, reader, writer, text, number })
    }

    pub(crate) fn add(&mut self, number: usize, passage: &str) -> Result<()> {
        self.writer.add_document(doc!(self.text => passage, self.number => u64::try_from(number)?))?;
        Ok(())
    }

    /// Makes what was added visible.
    pub(crate) fn commit(&mut self) -> Result<()> {
        self.writer.commit()?;
        Ok(self.reader.reload()?)
    }

    /// The numbers of the best passages.
    pub(crate) fn search(&self, query: &str, top: usize) -> Result<Vec<usize>> {
        let mut analyzer = self.index.tokenizers().get("words").ok_or_else(|| anyhow!("it has no tokenizer"))?;
        let mut terms: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        let mut stream = analyzer.token_stream(query);
        while let Some(token) = stream.next() {
            let term = Term::from_field_text(self.text, &token.text);
            terms.push((Occur::Should, Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))));
        }
        let searcher = self.reader.searcher();
        let found = searcher.search(&BooleanQuery::new(terms), &TopDocs::with_limit(top).order_by_score())?;
        let mut numbers = Vec::with_capacity(found.len());
        for (_, address) in found {
            let document: TantivyDocument = searcher.doc(address)?;
            let number = document.get_first(self.number).and_then(|value| value.as_u64());
            numbers.push(usize::try_from(number.ok_or_else(|| anyhow!("a document without its number"))?)?);
        }
        Ok(numbers)
    }
}
