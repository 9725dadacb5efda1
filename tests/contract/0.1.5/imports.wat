(component
  (type $ty-wharf:plugin/caller@0.1.5 (;0;)
    (instance
      (type (;0;) (func (result string)))
      (export (;0;) "session" (func (type 0)))
      (type (;1;) (option string))
      (type (;2;) (func (result 1)))
      (export (;1;) "assistant" (func (type 2)))
      (export (;2;) "thread" (func (type 2)))
      (export (;3;) "request-meta" (func (type 0)))
      (type (;3;) (func (result u64)))
      (export (;4;) "remaining" (func (type 3)))
    )
  )
  (import "wharf:plugin/caller@0.1.5" (instance $wharf:plugin/caller@0.1.5 (;0;) (type $ty-wharf:plugin/caller@0.1.5)))
  (type $ty-wharf:plugin/log@0.1.5 (;1;)
    (instance
      (type (;0;) (func (param "level" string) (param "message" string)))
      (export (;0;) "write" (func (type 0)))
    )
  )
  (import "wharf:plugin/log@0.1.5" (instance $wharf:plugin/log@0.1.5 (;1;) (type $ty-wharf:plugin/log@0.1.5)))
  (type $ty-wharf:plugin/types@0.1.5 (;2;)
    (instance
      (type (;0;) (record (field "code" string) (field "message" string) (field "retryable" bool)))
      (export (;1;) "error" (type (eq 0)))
    )
  )
  (import "wharf:plugin/types@0.1.5" (instance $wharf:plugin/types@0.1.5 (;2;) (type $ty-wharf:plugin/types@0.1.5)))
  (alias export $wharf:plugin/types@0.1.5 "error" (type $error (;3;)))
  (type $ty-wharf:plugin/state@0.1.5 (;4;)
    (instance
      (export (;0;) "bucket" (type (sub resource)))
      (alias outer 1 $error (type (;1;)))
      (export (;2;) "error" (type (eq 1)))
      (type (;3;) (list u8))
      (type (;4;) (record (field "key" string) (field "value" 3) (field "revision" u64)))
      (export (;5;) "entry" (type (eq 4)))
      (type (;6;) (option 3))
      (type (;7;) (option u64))
      (type (;8;) (record (field "key" string) (field "value" 6) (field "if-revision" 7)))
      (export (;9;) "change" (type (eq 8)))
      (type (;10;) (list 5))
      (type (;11;) (option string))
      (type (;12;) (record (field "entries" 10) (field "next" 11)))
      (export (;13;) "page" (type (eq 12)))
      (type (;14;) (record (field "entries" u64) (field "bytes" u64) (field "quota-bytes" u64)))
      (export (;15;) "usage" (type (eq 14)))
      (type (;16;) (own 0))
      (type (;17;) (result 16 (error 2)))
      (type (;18;) (func (param "scope" string) (param "name" string) (result 17)))
      (export (;0;) "[static]bucket.open" (func (type 18)))
      (type (;19;) (borrow 0))
      (type (;20;) (list string))
      (type (;21;) (option 5))
      (type (;22;) (list 21))
      (type (;23;) (result 22 (error 2)))
      (type (;24;) (func (param "self" 19) (param "keys" 20) (result 23)))
      (export (;1;) "[method]bucket.get-many" (func (type 24)))
      (type (;25;) (list 9))
      (type (;26;) (list u64))
      (type (;27;) (result 26 (error 2)))
      (type (;28;) (func (param "self" 19) (param "changes" 25) (result 27)))
      (export (;2;) "[method]bucket.apply" (func (type 28)))
      (type (;29;) (result 13 (error 2)))
      (type (;30;) (func (param "self" 19) (param "prefix" string) (param "after" 11) (param "limit" u32) (result 29)))
      (export (;3;) "[method]bucket.scan" (func (type 30)))
      (type (;31;) (result 15 (error 2)))
      (type (;32;) (func (param "self" 19) (result 31)))
      (export (;4;) "[method]bucket.usage" (func (type 32)))
      (type (;33;) (result 11 (error 2)))
      (type (;34;) (func (param "self" 19) (result 33)))
      (export (;5;) "[method]bucket.expired-at" (func (type 34)))
    )
  )
  (import "wharf:plugin/state@0.1.5" (instance $wharf:plugin/state@0.1.5 (;3;) (type $ty-wharf:plugin/state@0.1.5)))
  (alias export $wharf:plugin/types@0.1.5 "error" (type $"#type5 error" (@name "error") (;5;)))
  (type $ty-wharf:plugin/events@0.1.5 (;6;)
    (instance
      (alias outer 1 $"#type5 error" (type (;0;)))
      (export (;1;) "error" (type (eq 0)))
      (type (;2;) (option f64))
      (type (;3;) (option string))
      (type (;4;) (result (error 1)))
      (type (;5;) (func (param "done" f64) (param "total" 2) (param "message" 3) (result 4)))
      (export (;0;) "progress" (func (type 5)))
      (type (;6;) (func (param "level" string) (param "data" string) (result 4)))
      (export (;1;) "message" (func (type 6)))
      (type (;7;) (result string (error 1)))
      (type (;8;) (func (param "title" string) (param "options" 3) (result 7)))
      (export (;2;) "open-stream" (func (type 8)))
      (type (;9;) (func (param "stream" string) (param "word" string) (result 4)))
      (export (;3;) "status" (func (type 9)))
      (type (;10;) (func (param "stream" string) (param "text" string) (result 4)))
      (export (;4;) "say" (func (type 10)))
      (type (;11;) (func (param "stream" string) (param "stage" string) (param "percent" 2) (result 4)))
      (export (;5;) "advance" (func (type 11)))
      (type (;12;) (func (param "stream" string) (result 4)))
      (export (;6;) "complete" (func (type 12)))
      (type (;13;) (func (param "list" string) (result 4)))
      (export (;7;) "changed" (func (type 13)))
      (type (;14;) (func (param "uri" string) (result 4)))
      (export (;8;) "updated" (func (type 14)))
    )
  )
  (import "wharf:plugin/events@0.1.5" (instance $wharf:plugin/events@0.1.5 (;4;) (type $ty-wharf:plugin/events@0.1.5)))
  (type $ty-wharf:plugin/settings@0.1.5 (;7;)
    (instance
      (type (;0;) (func (result string)))
      (export (;0;) "get" (func (type 0)))
    )
  )
  (import "wharf:plugin/settings@0.1.5" (instance $wharf:plugin/settings@0.1.5 (;5;) (type $ty-wharf:plugin/settings@0.1.5)))
  (alias export $wharf:plugin/types@0.1.5 "error" (type $"#type8 error" (@name "error") (;8;)))
  (type $ty-wharf:plugin/process@0.1.5 (;9;)
    (instance
      (alias outer 1 $"#type8 error" (type (;0;)))
      (export (;1;) "error" (type (eq 0)))
      (type (;2;) (tuple string string))
      (type (;3;) (list 2))
      (type (;4;) (option u64))
      (type (;5;) (option string))
      (type (;6;) (record (field "directory" string) (field "environment" 3) (field "input" bool) (field "lifetime-milliseconds" 4) (field "silence-milliseconds" 4) (field "options" 5)))
      (export (;7;) "launch" (type (eq 6)))
      (type (;8;) (option s32))
      (type (;9;) (option u32))
      (type (;10;) (record (field "kind" string) (field "code" 8) (field "signal" 9) (field "reason" 5)))
      (export (;11;) "outcome" (type (eq 10)))
      (type (;12;) (record (field "bytes" u64) (field "evicted-before" u64) (field "open" bool) (field "damaged" bool)))
      (export (;13;) "progress" (type (eq 12)))
      (type (;14;) (option 11))
      (type (;15;) (record (field "id" string) (field "command" string) (field "pid" 9) (field "status" string) (field "outcome" 14) (field "started" string) (field "finished" 5) (field "stdout" 13) (field "stderr" 13) (field "descendants" 9) (field "meta" 5)))
      (export (;16;) "info" (type (eq 15)))
      (type (;17;) (list u8))
      (type (;18;) (record (field "start" u64) (field "next" u64) (field "evicted-before" u64) (field "end" u64) (field "data" 17)))
      (export (;19;) "piece" (type (eq 18)))
      (type (;20;) (record (field "polls" u32) (field "over-milliseconds" u64) (field "mean-interval-milliseconds" u64) (field "suggested-interval-milliseconds" u64) (field "text" string)))
      (export (;21;) "advice" (type (eq 20)))
      (type (;22;) (option 21))
      (type (;23;) (record (field "process" 16) (field "stdout" 19) (field "stderr" 19) (field "advice" 22)))
      (export (;24;) "polled" (type (eq 23)))
      (type (;25;) (record (field "stream" string) (field "cursor" u64)))
      (export (;26;) "position" (type (eq 25)))
      (type (;27;) (option 26))
      (type (;28;) (tuple 26 string))
      (type (;29;) (option 28))
      (type (;30;) (record (field "output" 27) (field "pattern" 29) (field "exit" bool) (field "idle-milliseconds" 4)))
      (export (;31;) "condition" (type (eq 30)))
      (type (;32;) (tuple u64 u64))
      (type (;33;) (option 32))
      (type (;34;) (record (field "reason" string) (field "found" 33) (field "process" 16) (field "advice" 22)))
      (export (;35;) "waited" (type (eq 34)))
      (type (;36;) (result string (error 1)))
      (type (;37;) (func (result 36)))
      (export (;0;) "status" (func (type 37)))
      (type (;38;) (list string))
      (type (;39;) (func (param "program" string) (param "arguments" 38) (param "launch" 7) (result 36)))
      (export (;1;) "spawn" (func (type 39)))
      (type (;40;) (func (param "command" string) (param "launch" 7) (result 36)))
      (export (;2;) "spawn-shell" (func (type 40)))
      (type (;41;) (list 16))
      (type (;42;) (result 41 (error 1)))
      (type (;43;) (func (result 42)))
      (export (;3;) "list" (func (type 43)))
      (type (;44;) (result 24 (error 1)))
      (type (;45;) (func (param "id" string) (param "lines" u32) (param "max-bytes" u32) (result 44)))
      (export (;4;) "poll" (func (type 45)))
      (type (;46;) (result 35 (error 1)))
      (type (;47;) (func (param "id" string) (param "condition" 31) (param "milliseconds" u64) (result 46)))
      (export (;5;) "wait" (func (type 47)))
      (type (;48;) (result 19 (error 1)))
      (type (;49;) (func (param "id" string) (param "from" 26) (param "max-bytes" u32) (result 48)))
      (export (;6;) "read" (func (type 49)))
      (type (;50;) (func (param "id" string) (param "stream" string) (param "lines" u32) (param "max-bytes" u32) (result 48)))
      (export (;7;) "head" (func (type 50)))
      (export (;8;) "tail" (func (type 50)))
      (type (;51;) (result u64 (error 1)))
      (type (;52;) (func (param "id" string) (param "data" 17) (param "milliseconds" u64) (result 51)))
      (export (;9;) "write" (func (type 52)))
      (type (;53;) (result (error 1)))
      (type (;54;) (func (param "id" string) (result 53)))
      (export (;10;) "close-input" (func (type 54)))
      (type (;55;) (func (param "id" string) (param "signal" string) (result 53)))
      (export (;11;) "signal" (func (type 55)))
      (type (;56;) (result 16 (error 1)))
      (type (;57;) (func (param "id" string) (param "grace-milliseconds" u64) (result 56)))
      (export (;12;) "stop" (func (type 57)))
    )
  )
  (import "wharf:plugin/process@0.1.5" (instance $wharf:plugin/process@0.1.5 (;6;) (type $ty-wharf:plugin/process@0.1.5)))
  (alias export $wharf:plugin/types@0.1.5 "error" (type $"#type10 error" (@name "error") (;10;)))
  (type $ty-wharf:plugin/workspace@0.1.5 (;11;)
    (instance
      (type (;0;) (record (field "path" string) (field "shown" string) (field "exists" bool) (field "writable" bool)))
      (export (;1;) "directory" (type (eq 0)))
      (alias outer 1 $"#type10 error" (type (;2;)))
      (export (;3;) "error" (type (eq 2)))
      (type (;4;) (record (field "bytes" u64) (field "entries" u64) (field "quota-bytes" u64)))
      (export (;5;) "usage" (type (eq 4)))
      (type (;6;) (result 1 (error 3)))
      (type (;7;) (func (result 6)))
      (export (;0;) "files" (func (type 7)))
      (export (;1;) "create" (func (type 7)))
      (type (;8;) (tuple string 1))
      (type (;9;) (list 8))
      (type (;10;) (result 9 (error 3)))
      (type (;11;) (func (result 10)))
      (export (;2;) "exchange" (func (type 11)))
      (type (;12;) (result 5 (error 3)))
      (type (;13;) (func (result 12)))
      (export (;3;) "measure" (func (type 13)))
    )
  )
  (import "wharf:plugin/workspace@0.1.5" (instance $wharf:plugin/workspace@0.1.5 (;7;) (type $ty-wharf:plugin/workspace@0.1.5)))
  (alias export $wharf:plugin/types@0.1.5 "error" (type $"#type12 error" (@name "error") (;12;)))
  (type $ty-wharf:plugin/terminal@0.1.5 (;13;)
    (instance
      (alias outer 1 $"#type12 error" (type (;0;)))
      (export (;1;) "error" (type (eq 0)))
      (type (;2;) (tuple string string))
      (type (;3;) (list 2))
      (type (;4;) (option string))
      (type (;5;) (record (field "directory" string) (field "environment" 3) (field "columns" u16) (field "rows" u16) (field "preset" 4) (field "options" 4)))
      (export (;6;) "launch" (type (eq 5)))
      (type (;7;) (option s32))
      (type (;8;) (option u32))
      (type (;9;) (record (field "kind" string) (field "code" 7) (field "signal" 8) (field "reason" 4)))
      (export (;10;) "outcome" (type (eq 9)))
      (type (;11;) (record (field "layer" string) (field "reason" string) (field "confidence" string) (field "messages" u64) (field "attempts" u32) (field "empty-polls" u32) (field "idle-milliseconds" u64) (field "elapsed-milliseconds" u64) (field "exit-code" 7)))
      (export (;12;) "completion" (type (eq 11)))
      (type (;13;) (option u64))
      (type (;14;) (option 12))
      (type (;15;) (record (field "number" u64) (field "start" u64) (field "end" 13) (field "complete" 14) (field "cancelled" bool) (field "meta" 4)))
      (export (;16;) "turn" (type (eq 15)))
      (type (;17;) (record (field "bytes" u64) (field "evicted-before" u64)))
      (export (;18;) "extent" (type (eq 17)))
      (type (;19;) (option 10))
      (type (;20;) (option 16))
      (type (;21;) (record (field "id" string) (field "command" string) (field "profile" string) (field "preset" string) (field "status" string) (field "pid" 8) (field "columns" u16) (field "rows" u16) (field "started" string) (field "last-used" string) (field "ended" 4) (field "outcome" 19) (field "restarts" u32) (field "restarted-because" 4) (field "turn" 20) (field "text" 18) (field "raw" 18) (field "alternate-screen" bool) (field "recording" bool) (field "stream" 4) (field "meta" 4)))
      (export (;22;) "info" (type (eq 21)))
      (type (;23;) (list string))
      (type (;24;) (record (field "terminal" 22) (field "replaced" 23)))
      (export (;25;) "started" (type (eq 24)))
      (type (;26;) (record (field "text" string) (field "submit" bool) (field "keys" 23)))
      (export (;27;) "input" (type (eq 26)))
      (type (;28;) (record (field "preset" 4) (field "prompts" 23) (field "inactivity-milliseconds" 13) (field "time-limit-milliseconds" 13) (field "options" 4)))
      (export (;29;) "turn-options" (type (eq 28)))
      (type (;30;) (list u8))
      (type (;31;) (record (field "start" u64) (field "next" u64) (field "evicted-before" u64) (field "end" u64) (field "data" 30)))
      (export (;32;) "piece" (type (eq 31)))
      (type (;33;) (record (field "piece" 32) (field "turn" 16)))
      (export (;34;) "followed" (type (eq 33)))
      (type (;35;) (record (field "columns" u16) (field "rows" u16) (field "lines" 23) (field "cursor-column" u16) (field "cursor-row" u16) (field "cursor-visible" bool) (field "alternate" bool) (field "history" 23) (field "meta" 4)))
      (export (;36;) "screen-view" (type (eq 35)))
      (type (;37;) (result string (error 1)))
      (type (;38;) (func (result 37)))
      (export (;0;) "status" (func (type 38)))
      (type (;39;) (result 25 (error 1)))
      (type (;40;) (func (param "program" string) (param "arguments" 23) (param "launch" 6) (result 39)))
      (export (;1;) "start" (func (type 40)))
      (type (;41;) (func (param "launch" 6) (result 39)))
      (export (;2;) "start-shell" (func (type 41)))
      (type (;42;) (list 22))
      (type (;43;) (result 42 (error 1)))
      (type (;44;) (func (result 43)))
      (export (;3;) "list" (func (type 44)))
      (type (;45;) (result 22 (error 1)))
      (type (;46;) (func (param "id" string) (result 45)))
      (export (;4;) "get" (func (type 46)))
      (type (;47;) (result 16 (error 1)))
      (type (;48;) (func (param "id" string) (param "input" 27) (param "options" 29) (result 47)))
      (export (;5;) "send" (func (type 48)))
      (type (;49;) (result 34 (error 1)))
      (type (;50;) (func (param "id" string) (param "turn" u64) (param "from" u64) (param "max-bytes" u32) (param "milliseconds" u64) (result 49)))
      (export (;6;) "follow" (func (type 50)))
      (type (;51;) (result (error 1)))
      (type (;52;) (func (param "id" string) (param "turn" u64) (result 51)))
      (export (;7;) "cancel" (func (type 52)))
      (type (;53;) (func (param "id" string) (param "keys" 23) (result 51)))
      (export (;8;) "press" (func (type 53)))
      (type (;54;) (result 36 (error 1)))
      (type (;55;) (func (param "id" string) (param "history-lines" u32) (result 54)))
      (export (;9;) "screen" (func (type 55)))
      (type (;56;) (result 32 (error 1)))
      (type (;57;) (func (param "id" string) (param "view" string) (param "from" u64) (param "max-bytes" u32) (param "milliseconds" u64) (result 56)))
      (export (;10;) "read" (func (type 57)))
      (type (;58;) (func (param "id" string) (param "columns" u16) (param "rows" u16) (result 51)))
      (export (;11;) "resize" (func (type 58)))
      (type (;59;) (func (param "id" string) (param "grace-milliseconds" u64) (result 45)))
      (export (;12;) "close" (func (type 59)))
    )
  )
  (import "wharf:plugin/terminal@0.1.5" (instance $wharf:plugin/terminal@0.1.5 (;8;) (type $ty-wharf:plugin/terminal@0.1.5)))
  (alias export $wharf:plugin/types@0.1.5 "error" (type $"#type14 error" (@name "error") (;14;)))
  (type $ty-wharf:plugin/webview@0.1.5 (;15;)
    (instance
      (alias outer 1 $"#type14 error" (type (;0;)))
      (export (;1;) "error" (type (eq 0)))
      (type (;2;) (option string))
      (type (;3;) (record (field "width" u32) (field "height" u32) (field "dialogs" string) (field "options" 2)))
      (export (;4;) "page-options" (type (eq 3)))
      (type (;5;) (record (field "kind" string) (field "message" string) (field "default-text" string) (field "open-milliseconds" u64)))
      (export (;6;) "dialog" (type (eq 5)))
      (type (;7;) (option 6))
      (type (;8;) (record (field "id" string) (field "status" string) (field "url" string) (field "title" string) (field "width" u32) (field "height" u32) (field "dialog" 7) (field "pending" u32) (field "opened" string) (field "last-used" string) (field "closed-because" 2) (field "meta" 2)))
      (export (;9;) "page-info" (type (eq 8)))
      (type (;10;) (record (field "world" string) (field "milliseconds" u64) (field "max-bytes" u32) (field "options" 2)))
      (export (;11;) "script-options" (type (eq 10)))
      (type (;12;) (list u8))
      (type (;13;) (record (field "state" string) (field "elapsed-milliseconds" u64) (field "kind" string) (field "message" string) (field "mime-type" string) (field "data" 12) (field "bytes" u64) (field "truncated" bool) (field "dialog" 7) (field "advice" 2) (field "meta" 2)))
      (export (;14;) "outcome" (type (eq 13)))
      (type (;15;) (record (field "start" u64) (field "next" u64) (field "bytes" u64) (field "data" 12)))
      (export (;16;) "result-piece" (type (eq 15)))
      (type (;17;) (record (field "entries" string) (field "next" u64) (field "lost" u64)))
      (export (;18;) "log-page" (type (eq 17)))
      (type (;19;) (result string (error 1)))
      (type (;20;) (func (result 19)))
      (export (;0;) "status" (func (type 20)))
      (type (;21;) (result 9 (error 1)))
      (type (;22;) (func (param "options" 4) (result 21)))
      (export (;1;) "open" (func (type 22)))
      (type (;23;) (list 9))
      (type (;24;) (result 23 (error 1)))
      (type (;25;) (func (result 24)))
      (export (;2;) "list" (func (type 25)))
      (type (;26;) (func (param "id" string) (result 21)))
      (export (;3;) "get" (func (type 26)))
      (type (;27;) (result (error 1)))
      (type (;28;) (func (param "id" string) (result 27)))
      (export (;4;) "close" (func (type 28)))
      (type (;29;) (func (param "id" string) (param "script" string) (param "options" 11) (result 19)))
      (export (;5;) "execute-script" (func (type 29)))
      (type (;30;) (func (param "id" string) (param "operation" string) (param "parameters" string) (param "milliseconds" u64) (result 19)))
      (export (;6;) "perform" (func (type 30)))
      (type (;31;) (result 14 (error 1)))
      (type (;32;) (func (param "request" string) (result 31)))
      (export (;7;) "poll" (func (type 32)))
      (type (;33;) (func (param "request" string) (param "milliseconds" u64) (result 31)))
      (export (;8;) "wait" (func (type 33)))
      (type (;34;) (func (param "request" string) (result 27)))
      (export (;9;) "acknowledge" (func (type 34)))
      (export (;10;) "cancel" (func (type 34)))
      (type (;35;) (result 16 (error 1)))
      (type (;36;) (func (param "request" string) (param "from" u64) (param "max-bytes" u32) (result 35)))
      (export (;11;) "read-result" (func (type 36)))
      (type (;37;) (func (param "id" string) (param "accept" bool) (param "text" 2) (result 27)))
      (export (;12;) "answer-dialog" (func (type 37)))
      (type (;38;) (result 18 (error 1)))
      (type (;39;) (func (param "id" string) (param "log" string) (param "after" u64) (param "max" u32) (result 38)))
      (export (;13;) "entries" (func (type 39)))
    )
  )
  (import "wharf:plugin/webview@0.1.5" (instance $wharf:plugin/webview@0.1.5 (;9;) (type $ty-wharf:plugin/webview@0.1.5)))
  (core module $main (;0;)
    (type (;0;) (func (param i32)))
    (type (;1;) (func (result i64)))
    (type (;2;) (func (param i32 i32 i32 i32)))
    (type (;3;) (func (param i32 i32 i32 i32 i32)))
    (type (;4;) (func (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (type (;5;) (func (param i32 i32)))
    (type (;6;) (func (param f64 i32 f64 i32 i32 i32 i32)))
    (type (;7;) (func (param i32 i32 i32 i32 i32 i32)))
    (type (;8;) (func (param i32 i32 i32 i32 i32 f64 i32)))
    (type (;9;) (func (param i32 i32 i32)))
    (type (;10;) (func (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i64 i32 i32 i32 i32)))
    (type (;11;) (func (param i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i64 i32 i32 i32 i32)))
    (type (;12;) (func (param i32 i32 i32 i32 i32 i64 i32 i32 i32 i64 i32 i32 i32 i32 i64 i64 i32)))
    (type (;13;) (func (param i32 i32 i32 i32 i64 i32 i32)))
    (type (;14;) (func (param i32 i32 i32 i32 i32 i32 i32)))
    (type (;15;) (func (param i32 i32 i32 i32 i64 i32)))
    (type (;16;) (func (param i32 i32 i64 i32)))
    (type (;17;) (func (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
    (type (;18;) (func (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
    (type (;19;) (func (param i32 i32 i64 i64 i32 i64 i32)))
    (type (;20;) (func (param i32 i32 i32 i32 i64 i32 i64 i32)))
    (type (;21;) (func (param i32 i32 i32 i32 i32 i32 i64 i32 i32 i32 i32 i32)))
    (type (;22;) (func (param i32 i32 i32 i32 i32 i32 i64 i32)))
    (type (;23;) (func (param i32 i32 i64 i32 i32)))
    (type (;24;) (func (result i32)))
    (type (;25;) (func (param i32 i32 i32 i32) (result i32)))
    (type (;26;) (func (param i32 i32) (result i32)))
    (type (;27;) (func (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
    (type (;28;) (func))
    (import "wharf:plugin/caller@0.1.5" "session" (func (;0;) (type 0) (param i32)))
    (import "wharf:plugin/caller@0.1.5" "assistant" (func (;1;) (type 0) (param i32)))
    (import "wharf:plugin/caller@0.1.5" "thread" (func (;2;) (type 0) (param i32)))
    (import "wharf:plugin/caller@0.1.5" "request-meta" (func (;3;) (type 0) (param i32)))
    (import "wharf:plugin/caller@0.1.5" "remaining" (func (;4;) (type 1) (result i64)))
    (import "wharf:plugin/log@0.1.5" "write" (func (;5;) (type 2) (param i32 i32 i32 i32)))
    (import "wharf:plugin/state@0.1.5" "[static]bucket.open" (func (;6;) (type 3) (param i32 i32 i32 i32 i32)))
    (import "wharf:plugin/state@0.1.5" "[method]bucket.get-many" (func (;7;) (type 2) (param i32 i32 i32 i32)))
    (import "wharf:plugin/state@0.1.5" "[method]bucket.apply" (func (;8;) (type 2) (param i32 i32 i32 i32)))
    (import "wharf:plugin/state@0.1.5" "[method]bucket.scan" (func (;9;) (type 4) (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (import "wharf:plugin/state@0.1.5" "[method]bucket.usage" (func (;10;) (type 5) (param i32 i32)))
    (import "wharf:plugin/state@0.1.5" "[method]bucket.expired-at" (func (;11;) (type 5) (param i32 i32)))
    (import "wharf:plugin/state@0.1.5" "[resource-drop]bucket" (func (;12;) (type 0) (param i32)))
    (import "wharf:plugin/events@0.1.5" "progress" (func (;13;) (type 6) (param f64 i32 f64 i32 i32 i32 i32)))
    (import "wharf:plugin/events@0.1.5" "message" (func (;14;) (type 3) (param i32 i32 i32 i32 i32)))
    (import "wharf:plugin/events@0.1.5" "open-stream" (func (;15;) (type 7) (param i32 i32 i32 i32 i32 i32)))
    (import "wharf:plugin/events@0.1.5" "status" (func (;16;) (type 3) (param i32 i32 i32 i32 i32)))
    (import "wharf:plugin/events@0.1.5" "say" (func (;17;) (type 3) (param i32 i32 i32 i32 i32)))
    (import "wharf:plugin/events@0.1.5" "advance" (func (;18;) (type 8) (param i32 i32 i32 i32 i32 f64 i32)))
    (import "wharf:plugin/events@0.1.5" "complete" (func (;19;) (type 9) (param i32 i32 i32)))
    (import "wharf:plugin/events@0.1.5" "changed" (func (;20;) (type 9) (param i32 i32 i32)))
    (import "wharf:plugin/events@0.1.5" "updated" (func (;21;) (type 9) (param i32 i32 i32)))
    (import "wharf:plugin/settings@0.1.5" "get" (func (;22;) (type 0) (param i32)))
    (import "wharf:plugin/process@0.1.5" "status" (func (;23;) (type 0) (param i32)))
    (import "wharf:plugin/process@0.1.5" "spawn" (func (;24;) (type 10) (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i64 i32 i32 i32 i32)))
    (import "wharf:plugin/process@0.1.5" "spawn-shell" (func (;25;) (type 11) (param i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i64 i32 i32 i32 i32)))
    (import "wharf:plugin/process@0.1.5" "list" (func (;26;) (type 0) (param i32)))
    (import "wharf:plugin/process@0.1.5" "poll" (func (;27;) (type 3) (param i32 i32 i32 i32 i32)))
    (import "wharf:plugin/process@0.1.5" "wait" (func (;28;) (type 12) (param i32 i32 i32 i32 i32 i64 i32 i32 i32 i64 i32 i32 i32 i32 i64 i64 i32)))
    (import "wharf:plugin/process@0.1.5" "read" (func (;29;) (type 13) (param i32 i32 i32 i32 i64 i32 i32)))
    (import "wharf:plugin/process@0.1.5" "head" (func (;30;) (type 14) (param i32 i32 i32 i32 i32 i32 i32)))
    (import "wharf:plugin/process@0.1.5" "tail" (func (;31;) (type 14) (param i32 i32 i32 i32 i32 i32 i32)))
    (import "wharf:plugin/process@0.1.5" "write" (func (;32;) (type 15) (param i32 i32 i32 i32 i64 i32)))
    (import "wharf:plugin/process@0.1.5" "close-input" (func (;33;) (type 9) (param i32 i32 i32)))
    (import "wharf:plugin/process@0.1.5" "signal" (func (;34;) (type 3) (param i32 i32 i32 i32 i32)))
    (import "wharf:plugin/process@0.1.5" "stop" (func (;35;) (type 16) (param i32 i32 i64 i32)))
    (import "wharf:plugin/workspace@0.1.5" "files" (func (;36;) (type 0) (param i32)))
    (import "wharf:plugin/workspace@0.1.5" "create" (func (;37;) (type 0) (param i32)))
    (import "wharf:plugin/workspace@0.1.5" "exchange" (func (;38;) (type 0) (param i32)))
    (import "wharf:plugin/workspace@0.1.5" "measure" (func (;39;) (type 0) (param i32)))
    (import "wharf:plugin/terminal@0.1.5" "status" (func (;40;) (type 0) (param i32)))
    (import "wharf:plugin/terminal@0.1.5" "start" (func (;41;) (type 17) (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
    (import "wharf:plugin/terminal@0.1.5" "start-shell" (func (;42;) (type 18) (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
    (import "wharf:plugin/terminal@0.1.5" "list" (func (;43;) (type 0) (param i32)))
    (import "wharf:plugin/terminal@0.1.5" "get" (func (;44;) (type 9) (param i32 i32 i32)))
    (import "wharf:plugin/terminal@0.1.5" "send" (func (;45;) (type 5) (param i32 i32)))
    (import "wharf:plugin/terminal@0.1.5" "follow" (func (;46;) (type 19) (param i32 i32 i64 i64 i32 i64 i32)))
    (import "wharf:plugin/terminal@0.1.5" "cancel" (func (;47;) (type 16) (param i32 i32 i64 i32)))
    (import "wharf:plugin/terminal@0.1.5" "press" (func (;48;) (type 3) (param i32 i32 i32 i32 i32)))
    (import "wharf:plugin/terminal@0.1.5" "screen" (func (;49;) (type 2) (param i32 i32 i32 i32)))
    (import "wharf:plugin/terminal@0.1.5" "read" (func (;50;) (type 20) (param i32 i32 i32 i32 i64 i32 i64 i32)))
    (import "wharf:plugin/terminal@0.1.5" "resize" (func (;51;) (type 3) (param i32 i32 i32 i32 i32)))
    (import "wharf:plugin/terminal@0.1.5" "close" (func (;52;) (type 16) (param i32 i32 i64 i32)))
    (import "wharf:plugin/webview@0.1.5" "status" (func (;53;) (type 0) (param i32)))
    (import "wharf:plugin/webview@0.1.5" "open" (func (;54;) (type 4) (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (import "wharf:plugin/webview@0.1.5" "list" (func (;55;) (type 0) (param i32)))
    (import "wharf:plugin/webview@0.1.5" "get" (func (;56;) (type 9) (param i32 i32 i32)))
    (import "wharf:plugin/webview@0.1.5" "close" (func (;57;) (type 9) (param i32 i32 i32)))
    (import "wharf:plugin/webview@0.1.5" "execute-script" (func (;58;) (type 21) (param i32 i32 i32 i32 i32 i32 i64 i32 i32 i32 i32 i32)))
    (import "wharf:plugin/webview@0.1.5" "perform" (func (;59;) (type 22) (param i32 i32 i32 i32 i32 i32 i64 i32)))
    (import "wharf:plugin/webview@0.1.5" "poll" (func (;60;) (type 9) (param i32 i32 i32)))
    (import "wharf:plugin/webview@0.1.5" "wait" (func (;61;) (type 16) (param i32 i32 i64 i32)))
    (import "wharf:plugin/webview@0.1.5" "acknowledge" (func (;62;) (type 9) (param i32 i32 i32)))
    (import "wharf:plugin/webview@0.1.5" "cancel" (func (;63;) (type 9) (param i32 i32 i32)))
    (import "wharf:plugin/webview@0.1.5" "read-result" (func (;64;) (type 23) (param i32 i32 i64 i32 i32)))
    (import "wharf:plugin/webview@0.1.5" "answer-dialog" (func (;65;) (type 14) (param i32 i32 i32 i32 i32 i32 i32)))
    (import "wharf:plugin/webview@0.1.5" "entries" (func (;66;) (type 13) (param i32 i32 i32 i32 i64 i32 i32)))
    (memory (;0;) 0)
    (export "wharf:plugin/tools@0.1.5#list-tools" (func 67))
    (export "cabi_post_wharf:plugin/tools@0.1.5#list-tools" (func 68))
    (export "wharf:plugin/tools@0.1.5#call-tool" (func 69))
    (export "cabi_post_wharf:plugin/tools@0.1.5#call-tool" (func 70))
    (export "wharf:plugin/prompts@0.1.5#list-prompts" (func 71))
    (export "cabi_post_wharf:plugin/prompts@0.1.5#list-prompts" (func 72))
    (export "wharf:plugin/prompts@0.1.5#get-prompt" (func 73))
    (export "cabi_post_wharf:plugin/prompts@0.1.5#get-prompt" (func 74))
    (export "wharf:plugin/resources@0.1.5#claims" (func 75))
    (export "cabi_post_wharf:plugin/resources@0.1.5#claims" (func 76))
    (export "wharf:plugin/resources@0.1.5#list-templates" (func 77))
    (export "cabi_post_wharf:plugin/resources@0.1.5#list-templates" (func 78))
    (export "wharf:plugin/resources@0.1.5#list-resources" (func 79))
    (export "cabi_post_wharf:plugin/resources@0.1.5#list-resources" (func 80))
    (export "wharf:plugin/resources@0.1.5#read-resource" (func 81))
    (export "cabi_post_wharf:plugin/resources@0.1.5#read-resource" (func 82))
    (export "wharf:plugin/completion@0.1.5#complete" (func 83))
    (export "cabi_post_wharf:plugin/completion@0.1.5#complete" (func 84))
    (export "memory" (memory 0))
    (export "cabi_realloc" (func 85))
    (export "_initialize" (func 86))
    (func (;67;) (type 24) (result i32)
      unreachable
    )
    (func (;68;) (type 0) (param i32))
    (func (;69;) (type 25) (param i32 i32 i32 i32) (result i32)
      unreachable
    )
    (func (;70;) (type 0) (param i32))
    (func (;71;) (type 24) (result i32)
      unreachable
    )
    (func (;72;) (type 0) (param i32))
    (func (;73;) (type 25) (param i32 i32 i32 i32) (result i32)
      unreachable
    )
    (func (;74;) (type 0) (param i32))
    (func (;75;) (type 24) (result i32)
      unreachable
    )
    (func (;76;) (type 0) (param i32))
    (func (;77;) (type 24) (result i32)
      unreachable
    )
    (func (;78;) (type 0) (param i32))
    (func (;79;) (type 24) (result i32)
      unreachable
    )
    (func (;80;) (type 0) (param i32))
    (func (;81;) (type 26) (param i32 i32) (result i32)
      unreachable
    )
    (func (;82;) (type 0) (param i32))
    (func (;83;) (type 27) (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
      unreachable
    )
    (func (;84;) (type 0) (param i32))
    (func (;85;) (type 25) (param i32 i32 i32 i32) (result i32)
      unreachable
    )
    (func (;86;) (type 28))
    (@producers
      (processed-by "wit-component" "0.263.0")
    )
  )
  (core module $wit-component-shim-module (;1;)
    (type (;0;) (func (param i32)))
    (type (;1;) (func (param i32 i32 i32 i32)))
    (type (;2;) (func (param i32 i32 i32 i32 i32)))
    (type (;3;) (func (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (type (;4;) (func (param i32 i32)))
    (type (;5;) (func (param f64 i32 f64 i32 i32 i32 i32)))
    (type (;6;) (func (param i32 i32 i32 i32 i32 i32)))
    (type (;7;) (func (param i32 i32 i32 i32 i32 f64 i32)))
    (type (;8;) (func (param i32 i32 i32)))
    (type (;9;) (func (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i64 i32 i32 i32 i32)))
    (type (;10;) (func (param i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i64 i32 i32 i32 i32)))
    (type (;11;) (func (param i32 i32 i32 i32 i32 i64 i32 i32 i32 i64 i32 i32 i32 i32 i64 i64 i32)))
    (type (;12;) (func (param i32 i32 i32 i32 i64 i32 i32)))
    (type (;13;) (func (param i32 i32 i32 i32 i32 i32 i32)))
    (type (;14;) (func (param i32 i32 i32 i32 i64 i32)))
    (type (;15;) (func (param i32 i32 i64 i32)))
    (type (;16;) (func (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
    (type (;17;) (func (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
    (type (;18;) (func (param i32 i32 i64 i64 i32 i64 i32)))
    (type (;19;) (func (param i32 i32 i32 i32 i64 i32 i64 i32)))
    (type (;20;) (func (param i32 i32 i32 i32 i32 i32 i64 i32 i32 i32 i32 i32)))
    (type (;21;) (func (param i32 i32 i32 i32 i32 i32 i64 i32)))
    (type (;22;) (func (param i32 i32 i64 i32 i32)))
    (table (;0;) 65 65 funcref)
    (export "0" (func 0))
    (export "1" (func 1))
    (export "2" (func 2))
    (export "3" (func 3))
    (export "4" (func 4))
    (export "5" (func 5))
    (export "6" (func 6))
    (export "7" (func 7))
    (export "8" (func 8))
    (export "9" (func 9))
    (export "10" (func 10))
    (export "11" (func 11))
    (export "12" (func 12))
    (export "13" (func 13))
    (export "14" (func 14))
    (export "15" (func 15))
    (export "16" (func 16))
    (export "17" (func 17))
    (export "18" (func 18))
    (export "19" (func 19))
    (export "20" (func 20))
    (export "21" (func 21))
    (export "22" (func 22))
    (export "23" (func 23))
    (export "24" (func 24))
    (export "25" (func 25))
    (export "26" (func 26))
    (export "27" (func 27))
    (export "28" (func 28))
    (export "29" (func 29))
    (export "30" (func 30))
    (export "31" (func 31))
    (export "32" (func 32))
    (export "33" (func 33))
    (export "34" (func 34))
    (export "35" (func 35))
    (export "36" (func 36))
    (export "37" (func 37))
    (export "38" (func 38))
    (export "39" (func 39))
    (export "40" (func 40))
    (export "41" (func 41))
    (export "42" (func 42))
    (export "43" (func 43))
    (export "44" (func 44))
    (export "45" (func 45))
    (export "46" (func 46))
    (export "47" (func 47))
    (export "48" (func 48))
    (export "49" (func 49))
    (export "50" (func 50))
    (export "51" (func 51))
    (export "52" (func 52))
    (export "53" (func 53))
    (export "54" (func 54))
    (export "55" (func 55))
    (export "56" (func 56))
    (export "57" (func 57))
    (export "58" (func 58))
    (export "59" (func 59))
    (export "60" (func 60))
    (export "61" (func 61))
    (export "62" (func 62))
    (export "63" (func 63))
    (export "64" (func 64))
    (export "$imports" (table 0))
    (func (;0;) (type 0) (param i32)
      local.get 0
      i32.const 0
      call_indirect (type 0)
    )
    (func (;1;) (type 0) (param i32)
      local.get 0
      i32.const 1
      call_indirect (type 0)
    )
    (func (;2;) (type 0) (param i32)
      local.get 0
      i32.const 2
      call_indirect (type 0)
    )
    (func (;3;) (type 0) (param i32)
      local.get 0
      i32.const 3
      call_indirect (type 0)
    )
    (func (;4;) (type 1) (param i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      i32.const 4
      call_indirect (type 1)
    )
    (func (;5;) (type 2) (param i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      i32.const 5
      call_indirect (type 2)
    )
    (func (;6;) (type 1) (param i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      i32.const 6
      call_indirect (type 1)
    )
    (func (;7;) (type 1) (param i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      i32.const 7
      call_indirect (type 1)
    )
    (func (;8;) (type 3) (param i32 i32 i32 i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      local.get 7
      i32.const 8
      call_indirect (type 3)
    )
    (func (;9;) (type 4) (param i32 i32)
      local.get 0
      local.get 1
      i32.const 9
      call_indirect (type 4)
    )
    (func (;10;) (type 4) (param i32 i32)
      local.get 0
      local.get 1
      i32.const 10
      call_indirect (type 4)
    )
    (func (;11;) (type 5) (param f64 i32 f64 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      i32.const 11
      call_indirect (type 5)
    )
    (func (;12;) (type 2) (param i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      i32.const 12
      call_indirect (type 2)
    )
    (func (;13;) (type 6) (param i32 i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      i32.const 13
      call_indirect (type 6)
    )
    (func (;14;) (type 2) (param i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      i32.const 14
      call_indirect (type 2)
    )
    (func (;15;) (type 2) (param i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      i32.const 15
      call_indirect (type 2)
    )
    (func (;16;) (type 7) (param i32 i32 i32 i32 i32 f64 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      i32.const 16
      call_indirect (type 7)
    )
    (func (;17;) (type 8) (param i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      i32.const 17
      call_indirect (type 8)
    )
    (func (;18;) (type 8) (param i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      i32.const 18
      call_indirect (type 8)
    )
    (func (;19;) (type 8) (param i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      i32.const 19
      call_indirect (type 8)
    )
    (func (;20;) (type 0) (param i32)
      local.get 0
      i32.const 20
      call_indirect (type 0)
    )
    (func (;21;) (type 0) (param i32)
      local.get 0
      i32.const 21
      call_indirect (type 0)
    )
    (func (;22;) (type 9) (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i64 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      local.get 7
      local.get 8
      local.get 9
      local.get 10
      local.get 11
      local.get 12
      local.get 13
      local.get 14
      local.get 15
      local.get 16
      i32.const 22
      call_indirect (type 9)
    )
    (func (;23;) (type 10) (param i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i64 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      local.get 7
      local.get 8
      local.get 9
      local.get 10
      local.get 11
      local.get 12
      local.get 13
      local.get 14
      i32.const 23
      call_indirect (type 10)
    )
    (func (;24;) (type 0) (param i32)
      local.get 0
      i32.const 24
      call_indirect (type 0)
    )
    (func (;25;) (type 2) (param i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      i32.const 25
      call_indirect (type 2)
    )
    (func (;26;) (type 11) (param i32 i32 i32 i32 i32 i64 i32 i32 i32 i64 i32 i32 i32 i32 i64 i64 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      local.get 7
      local.get 8
      local.get 9
      local.get 10
      local.get 11
      local.get 12
      local.get 13
      local.get 14
      local.get 15
      local.get 16
      i32.const 26
      call_indirect (type 11)
    )
    (func (;27;) (type 12) (param i32 i32 i32 i32 i64 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      i32.const 27
      call_indirect (type 12)
    )
    (func (;28;) (type 13) (param i32 i32 i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      i32.const 28
      call_indirect (type 13)
    )
    (func (;29;) (type 13) (param i32 i32 i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      i32.const 29
      call_indirect (type 13)
    )
    (func (;30;) (type 14) (param i32 i32 i32 i32 i64 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      i32.const 30
      call_indirect (type 14)
    )
    (func (;31;) (type 8) (param i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      i32.const 31
      call_indirect (type 8)
    )
    (func (;32;) (type 2) (param i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      i32.const 32
      call_indirect (type 2)
    )
    (func (;33;) (type 15) (param i32 i32 i64 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      i32.const 33
      call_indirect (type 15)
    )
    (func (;34;) (type 0) (param i32)
      local.get 0
      i32.const 34
      call_indirect (type 0)
    )
    (func (;35;) (type 0) (param i32)
      local.get 0
      i32.const 35
      call_indirect (type 0)
    )
    (func (;36;) (type 0) (param i32)
      local.get 0
      i32.const 36
      call_indirect (type 0)
    )
    (func (;37;) (type 0) (param i32)
      local.get 0
      i32.const 37
      call_indirect (type 0)
    )
    (func (;38;) (type 0) (param i32)
      local.get 0
      i32.const 38
      call_indirect (type 0)
    )
    (func (;39;) (type 16) (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      local.get 7
      local.get 8
      local.get 9
      local.get 10
      local.get 11
      local.get 12
      local.get 13
      local.get 14
      local.get 15
      local.get 16
      i32.const 39
      call_indirect (type 16)
    )
    (func (;40;) (type 17) (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      local.get 7
      local.get 8
      local.get 9
      local.get 10
      local.get 11
      local.get 12
      i32.const 40
      call_indirect (type 17)
    )
    (func (;41;) (type 0) (param i32)
      local.get 0
      i32.const 41
      call_indirect (type 0)
    )
    (func (;42;) (type 8) (param i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      i32.const 42
      call_indirect (type 8)
    )
    (func (;43;) (type 4) (param i32 i32)
      local.get 0
      local.get 1
      i32.const 43
      call_indirect (type 4)
    )
    (func (;44;) (type 18) (param i32 i32 i64 i64 i32 i64 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      i32.const 44
      call_indirect (type 18)
    )
    (func (;45;) (type 15) (param i32 i32 i64 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      i32.const 45
      call_indirect (type 15)
    )
    (func (;46;) (type 2) (param i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      i32.const 46
      call_indirect (type 2)
    )
    (func (;47;) (type 1) (param i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      i32.const 47
      call_indirect (type 1)
    )
    (func (;48;) (type 19) (param i32 i32 i32 i32 i64 i32 i64 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      local.get 7
      i32.const 48
      call_indirect (type 19)
    )
    (func (;49;) (type 2) (param i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      i32.const 49
      call_indirect (type 2)
    )
    (func (;50;) (type 15) (param i32 i32 i64 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      i32.const 50
      call_indirect (type 15)
    )
    (func (;51;) (type 0) (param i32)
      local.get 0
      i32.const 51
      call_indirect (type 0)
    )
    (func (;52;) (type 3) (param i32 i32 i32 i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      local.get 7
      i32.const 52
      call_indirect (type 3)
    )
    (func (;53;) (type 0) (param i32)
      local.get 0
      i32.const 53
      call_indirect (type 0)
    )
    (func (;54;) (type 8) (param i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      i32.const 54
      call_indirect (type 8)
    )
    (func (;55;) (type 8) (param i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      i32.const 55
      call_indirect (type 8)
    )
    (func (;56;) (type 20) (param i32 i32 i32 i32 i32 i32 i64 i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      local.get 7
      local.get 8
      local.get 9
      local.get 10
      local.get 11
      i32.const 56
      call_indirect (type 20)
    )
    (func (;57;) (type 21) (param i32 i32 i32 i32 i32 i32 i64 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      local.get 7
      i32.const 57
      call_indirect (type 21)
    )
    (func (;58;) (type 8) (param i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      i32.const 58
      call_indirect (type 8)
    )
    (func (;59;) (type 15) (param i32 i32 i64 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      i32.const 59
      call_indirect (type 15)
    )
    (func (;60;) (type 8) (param i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      i32.const 60
      call_indirect (type 8)
    )
    (func (;61;) (type 8) (param i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      i32.const 61
      call_indirect (type 8)
    )
    (func (;62;) (type 22) (param i32 i32 i64 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      i32.const 62
      call_indirect (type 22)
    )
    (func (;63;) (type 13) (param i32 i32 i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      i32.const 63
      call_indirect (type 13)
    )
    (func (;64;) (type 12) (param i32 i32 i32 i32 i64 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      i32.const 64
      call_indirect (type 12)
    )
    (@producers
      (processed-by "wit-component" "0.263.0")
    )
  )
  (core instance $wit-component-shim-instance (;0;) (instantiate $wit-component-shim-module))
  (alias export $wharf:plugin/types@0.1.5 "error" (type $"#type16 error" (@name "error") (;16;)))
  (type (;17;) (option string))
  (type (;18;) (record (field "name" string) (field "description" string) (field "input-schema" string) (field "output-schema" 17) (field "meta" 17)))
  (type (;19;) (list u8))
  (type (;20;) (record (field "mime-type" string) (field "data" 19) (field "meta" 17)))
  (type (;21;) (list 20))
  (type (;22;) (record (field "content" 21) (field "structured" 17) (field "is-error" bool) (field "meta" 17)))
  (type (;23;) (record (field "name" string) (field "description" string) (field "required" bool) (field "meta" 17)))
  (type (;24;) (list 23))
  (type (;25;) (record (field "name" string) (field "description" string) (field "arguments" 24) (field "meta" 17)))
  (type (;26;) (record (field "role" string) (field "mime-type" string) (field "data" 19) (field "meta" 17)))
  (type (;27;) (list 26))
  (type (;28;) (record (field "messages" 27) (field "description" 17) (field "meta" 17)))
  (type (;29;) (record (field "uri-template" string) (field "name" string) (field "description" string) (field "mime-type" 17) (field "meta" 17)))
  (type (;30;) (record (field "uri" string) (field "name" string) (field "description" string) (field "mime-type" 17) (field "meta" 17)))
  (type (;31;) (record (field "uri" string) (field "mime-type" string) (field "data" 19) (field "meta" 17)))
  (type (;32;) (list 31))
  (type (;33;) (record (field "parts" 32) (field "meta" 17)))
  (type (;34;) (list string))
  (type (;35;) (option u32))
  (type (;36;) (record (field "values" 34) (field "total" 35) (field "has-more" bool) (field "meta" 17)))
  (alias core export $wit-component-shim-instance "0" (core func $indirect-wharf:plugin/caller@0.1.5-session (;0;)))
  (alias core export $wit-component-shim-instance "1" (core func $indirect-wharf:plugin/caller@0.1.5-assistant (;1;)))
  (alias core export $wit-component-shim-instance "2" (core func $indirect-wharf:plugin/caller@0.1.5-thread (;2;)))
  (alias core export $wit-component-shim-instance "3" (core func $indirect-wharf:plugin/caller@0.1.5-request-meta (;3;)))
  (alias export $wharf:plugin/caller@0.1.5 "remaining" (func $remaining (;0;)))
  (core func $remaining (;4;) (canon lower (func $remaining)))
  (core instance $wharf:plugin/caller@0.1.5 (;1;)
    (export "session" (func $indirect-wharf:plugin/caller@0.1.5-session))
    (export "assistant" (func $indirect-wharf:plugin/caller@0.1.5-assistant))
    (export "thread" (func $indirect-wharf:plugin/caller@0.1.5-thread))
    (export "request-meta" (func $indirect-wharf:plugin/caller@0.1.5-request-meta))
    (export "remaining" (func $remaining))
  )
  (alias core export $wit-component-shim-instance "4" (core func $indirect-wharf:plugin/log@0.1.5-write (;5;)))
  (core instance $wharf:plugin/log@0.1.5 (;2;)
    (export "write" (func $indirect-wharf:plugin/log@0.1.5-write))
  )
  (alias core export $wit-component-shim-instance "5" (core func $"indirect-wharf:plugin/state@0.1.5-[static]bucket.open" (;6;)))
  (alias core export $wit-component-shim-instance "6" (core func $"indirect-wharf:plugin/state@0.1.5-[method]bucket.get-many" (;7;)))
  (alias core export $wit-component-shim-instance "7" (core func $"indirect-wharf:plugin/state@0.1.5-[method]bucket.apply" (;8;)))
  (alias core export $wit-component-shim-instance "8" (core func $"indirect-wharf:plugin/state@0.1.5-[method]bucket.scan" (;9;)))
  (alias core export $wit-component-shim-instance "9" (core func $"indirect-wharf:plugin/state@0.1.5-[method]bucket.usage" (;10;)))
  (alias core export $wit-component-shim-instance "10" (core func $"indirect-wharf:plugin/state@0.1.5-[method]bucket.expired-at" (;11;)))
  (alias export $wharf:plugin/state@0.1.5 "bucket" (type $bucket (;37;)))
  (core func $resource.drop (;12;) (canon resource.drop $bucket))
  (core instance $wharf:plugin/state@0.1.5 (;3;)
    (export "[static]bucket.open" (func $"indirect-wharf:plugin/state@0.1.5-[static]bucket.open"))
    (export "[method]bucket.get-many" (func $"indirect-wharf:plugin/state@0.1.5-[method]bucket.get-many"))
    (export "[method]bucket.apply" (func $"indirect-wharf:plugin/state@0.1.5-[method]bucket.apply"))
    (export "[method]bucket.scan" (func $"indirect-wharf:plugin/state@0.1.5-[method]bucket.scan"))
    (export "[method]bucket.usage" (func $"indirect-wharf:plugin/state@0.1.5-[method]bucket.usage"))
    (export "[method]bucket.expired-at" (func $"indirect-wharf:plugin/state@0.1.5-[method]bucket.expired-at"))
    (export "[resource-drop]bucket" (func $resource.drop))
  )
  (alias core export $wit-component-shim-instance "11" (core func $indirect-wharf:plugin/events@0.1.5-progress (;13;)))
  (alias core export $wit-component-shim-instance "12" (core func $indirect-wharf:plugin/events@0.1.5-message (;14;)))
  (alias core export $wit-component-shim-instance "13" (core func $indirect-wharf:plugin/events@0.1.5-open-stream (;15;)))
  (alias core export $wit-component-shim-instance "14" (core func $indirect-wharf:plugin/events@0.1.5-status (;16;)))
  (alias core export $wit-component-shim-instance "15" (core func $indirect-wharf:plugin/events@0.1.5-say (;17;)))
  (alias core export $wit-component-shim-instance "16" (core func $indirect-wharf:plugin/events@0.1.5-advance (;18;)))
  (alias core export $wit-component-shim-instance "17" (core func $indirect-wharf:plugin/events@0.1.5-complete (;19;)))
  (alias core export $wit-component-shim-instance "18" (core func $indirect-wharf:plugin/events@0.1.5-changed (;20;)))
  (alias core export $wit-component-shim-instance "19" (core func $indirect-wharf:plugin/events@0.1.5-updated (;21;)))
  (core instance $wharf:plugin/events@0.1.5 (;4;)
    (export "progress" (func $indirect-wharf:plugin/events@0.1.5-progress))
    (export "message" (func $indirect-wharf:plugin/events@0.1.5-message))
    (export "open-stream" (func $indirect-wharf:plugin/events@0.1.5-open-stream))
    (export "status" (func $indirect-wharf:plugin/events@0.1.5-status))
    (export "say" (func $indirect-wharf:plugin/events@0.1.5-say))
    (export "advance" (func $indirect-wharf:plugin/events@0.1.5-advance))
    (export "complete" (func $indirect-wharf:plugin/events@0.1.5-complete))
    (export "changed" (func $indirect-wharf:plugin/events@0.1.5-changed))
    (export "updated" (func $indirect-wharf:plugin/events@0.1.5-updated))
  )
  (alias core export $wit-component-shim-instance "20" (core func $indirect-wharf:plugin/settings@0.1.5-get (;22;)))
  (core instance $wharf:plugin/settings@0.1.5 (;5;)
    (export "get" (func $indirect-wharf:plugin/settings@0.1.5-get))
  )
  (alias core export $wit-component-shim-instance "21" (core func $indirect-wharf:plugin/process@0.1.5-status (;23;)))
  (alias core export $wit-component-shim-instance "22" (core func $indirect-wharf:plugin/process@0.1.5-spawn (;24;)))
  (alias core export $wit-component-shim-instance "23" (core func $indirect-wharf:plugin/process@0.1.5-spawn-shell (;25;)))
  (alias core export $wit-component-shim-instance "24" (core func $indirect-wharf:plugin/process@0.1.5-list (;26;)))
  (alias core export $wit-component-shim-instance "25" (core func $indirect-wharf:plugin/process@0.1.5-poll (;27;)))
  (alias core export $wit-component-shim-instance "26" (core func $indirect-wharf:plugin/process@0.1.5-wait (;28;)))
  (alias core export $wit-component-shim-instance "27" (core func $indirect-wharf:plugin/process@0.1.5-read (;29;)))
  (alias core export $wit-component-shim-instance "28" (core func $indirect-wharf:plugin/process@0.1.5-head (;30;)))
  (alias core export $wit-component-shim-instance "29" (core func $indirect-wharf:plugin/process@0.1.5-tail (;31;)))
  (alias core export $wit-component-shim-instance "30" (core func $indirect-wharf:plugin/process@0.1.5-write (;32;)))
  (alias core export $wit-component-shim-instance "31" (core func $indirect-wharf:plugin/process@0.1.5-close-input (;33;)))
  (alias core export $wit-component-shim-instance "32" (core func $indirect-wharf:plugin/process@0.1.5-signal (;34;)))
  (alias core export $wit-component-shim-instance "33" (core func $indirect-wharf:plugin/process@0.1.5-stop (;35;)))
  (core instance $wharf:plugin/process@0.1.5 (;6;)
    (export "status" (func $indirect-wharf:plugin/process@0.1.5-status))
    (export "spawn" (func $indirect-wharf:plugin/process@0.1.5-spawn))
    (export "spawn-shell" (func $indirect-wharf:plugin/process@0.1.5-spawn-shell))
    (export "list" (func $indirect-wharf:plugin/process@0.1.5-list))
    (export "poll" (func $indirect-wharf:plugin/process@0.1.5-poll))
    (export "wait" (func $indirect-wharf:plugin/process@0.1.5-wait))
    (export "read" (func $indirect-wharf:plugin/process@0.1.5-read))
    (export "head" (func $indirect-wharf:plugin/process@0.1.5-head))
    (export "tail" (func $indirect-wharf:plugin/process@0.1.5-tail))
    (export "write" (func $indirect-wharf:plugin/process@0.1.5-write))
    (export "close-input" (func $indirect-wharf:plugin/process@0.1.5-close-input))
    (export "signal" (func $indirect-wharf:plugin/process@0.1.5-signal))
    (export "stop" (func $indirect-wharf:plugin/process@0.1.5-stop))
  )
  (alias core export $wit-component-shim-instance "34" (core func $indirect-wharf:plugin/workspace@0.1.5-files (;36;)))
  (alias core export $wit-component-shim-instance "35" (core func $indirect-wharf:plugin/workspace@0.1.5-create (;37;)))
  (alias core export $wit-component-shim-instance "36" (core func $indirect-wharf:plugin/workspace@0.1.5-exchange (;38;)))
  (alias core export $wit-component-shim-instance "37" (core func $indirect-wharf:plugin/workspace@0.1.5-measure (;39;)))
  (core instance $wharf:plugin/workspace@0.1.5 (;7;)
    (export "files" (func $indirect-wharf:plugin/workspace@0.1.5-files))
    (export "create" (func $indirect-wharf:plugin/workspace@0.1.5-create))
    (export "exchange" (func $indirect-wharf:plugin/workspace@0.1.5-exchange))
    (export "measure" (func $indirect-wharf:plugin/workspace@0.1.5-measure))
  )
  (alias core export $wit-component-shim-instance "38" (core func $indirect-wharf:plugin/terminal@0.1.5-status (;40;)))
  (alias core export $wit-component-shim-instance "39" (core func $indirect-wharf:plugin/terminal@0.1.5-start (;41;)))
  (alias core export $wit-component-shim-instance "40" (core func $indirect-wharf:plugin/terminal@0.1.5-start-shell (;42;)))
  (alias core export $wit-component-shim-instance "41" (core func $indirect-wharf:plugin/terminal@0.1.5-list (;43;)))
  (alias core export $wit-component-shim-instance "42" (core func $indirect-wharf:plugin/terminal@0.1.5-get (;44;)))
  (alias core export $wit-component-shim-instance "43" (core func $indirect-wharf:plugin/terminal@0.1.5-send (;45;)))
  (alias core export $wit-component-shim-instance "44" (core func $indirect-wharf:plugin/terminal@0.1.5-follow (;46;)))
  (alias core export $wit-component-shim-instance "45" (core func $indirect-wharf:plugin/terminal@0.1.5-cancel (;47;)))
  (alias core export $wit-component-shim-instance "46" (core func $indirect-wharf:plugin/terminal@0.1.5-press (;48;)))
  (alias core export $wit-component-shim-instance "47" (core func $indirect-wharf:plugin/terminal@0.1.5-screen (;49;)))
  (alias core export $wit-component-shim-instance "48" (core func $indirect-wharf:plugin/terminal@0.1.5-read (;50;)))
  (alias core export $wit-component-shim-instance "49" (core func $indirect-wharf:plugin/terminal@0.1.5-resize (;51;)))
  (alias core export $wit-component-shim-instance "50" (core func $indirect-wharf:plugin/terminal@0.1.5-close (;52;)))
  (core instance $wharf:plugin/terminal@0.1.5 (;8;)
    (export "status" (func $indirect-wharf:plugin/terminal@0.1.5-status))
    (export "start" (func $indirect-wharf:plugin/terminal@0.1.5-start))
    (export "start-shell" (func $indirect-wharf:plugin/terminal@0.1.5-start-shell))
    (export "list" (func $indirect-wharf:plugin/terminal@0.1.5-list))
    (export "get" (func $indirect-wharf:plugin/terminal@0.1.5-get))
    (export "send" (func $indirect-wharf:plugin/terminal@0.1.5-send))
    (export "follow" (func $indirect-wharf:plugin/terminal@0.1.5-follow))
    (export "cancel" (func $indirect-wharf:plugin/terminal@0.1.5-cancel))
    (export "press" (func $indirect-wharf:plugin/terminal@0.1.5-press))
    (export "screen" (func $indirect-wharf:plugin/terminal@0.1.5-screen))
    (export "read" (func $indirect-wharf:plugin/terminal@0.1.5-read))
    (export "resize" (func $indirect-wharf:plugin/terminal@0.1.5-resize))
    (export "close" (func $indirect-wharf:plugin/terminal@0.1.5-close))
  )
  (alias core export $wit-component-shim-instance "51" (core func $indirect-wharf:plugin/webview@0.1.5-status (;53;)))
  (alias core export $wit-component-shim-instance "52" (core func $indirect-wharf:plugin/webview@0.1.5-open (;54;)))
  (alias core export $wit-component-shim-instance "53" (core func $indirect-wharf:plugin/webview@0.1.5-list (;55;)))
  (alias core export $wit-component-shim-instance "54" (core func $indirect-wharf:plugin/webview@0.1.5-get (;56;)))
  (alias core export $wit-component-shim-instance "55" (core func $indirect-wharf:plugin/webview@0.1.5-close (;57;)))
  (alias core export $wit-component-shim-instance "56" (core func $indirect-wharf:plugin/webview@0.1.5-execute-script (;58;)))
  (alias core export $wit-component-shim-instance "57" (core func $indirect-wharf:plugin/webview@0.1.5-perform (;59;)))
  (alias core export $wit-component-shim-instance "58" (core func $indirect-wharf:plugin/webview@0.1.5-poll (;60;)))
  (alias core export $wit-component-shim-instance "59" (core func $indirect-wharf:plugin/webview@0.1.5-wait (;61;)))
  (alias core export $wit-component-shim-instance "60" (core func $indirect-wharf:plugin/webview@0.1.5-acknowledge (;62;)))
  (alias core export $wit-component-shim-instance "61" (core func $indirect-wharf:plugin/webview@0.1.5-cancel (;63;)))
  (alias core export $wit-component-shim-instance "62" (core func $indirect-wharf:plugin/webview@0.1.5-read-result (;64;)))
  (alias core export $wit-component-shim-instance "63" (core func $indirect-wharf:plugin/webview@0.1.5-answer-dialog (;65;)))
  (alias core export $wit-component-shim-instance "64" (core func $indirect-wharf:plugin/webview@0.1.5-entries (;66;)))
  (core instance $wharf:plugin/webview@0.1.5 (;9;)
    (export "status" (func $indirect-wharf:plugin/webview@0.1.5-status))
    (export "open" (func $indirect-wharf:plugin/webview@0.1.5-open))
    (export "list" (func $indirect-wharf:plugin/webview@0.1.5-list))
    (export "get" (func $indirect-wharf:plugin/webview@0.1.5-get))
    (export "close" (func $indirect-wharf:plugin/webview@0.1.5-close))
    (export "execute-script" (func $indirect-wharf:plugin/webview@0.1.5-execute-script))
    (export "perform" (func $indirect-wharf:plugin/webview@0.1.5-perform))
    (export "poll" (func $indirect-wharf:plugin/webview@0.1.5-poll))
    (export "wait" (func $indirect-wharf:plugin/webview@0.1.5-wait))
    (export "acknowledge" (func $indirect-wharf:plugin/webview@0.1.5-acknowledge))
    (export "cancel" (func $indirect-wharf:plugin/webview@0.1.5-cancel))
    (export "read-result" (func $indirect-wharf:plugin/webview@0.1.5-read-result))
    (export "answer-dialog" (func $indirect-wharf:plugin/webview@0.1.5-answer-dialog))
    (export "entries" (func $indirect-wharf:plugin/webview@0.1.5-entries))
  )
  (core instance $main (;10;) (instantiate $main
      (with "wharf:plugin/caller@0.1.5" (instance $wharf:plugin/caller@0.1.5))
      (with "wharf:plugin/log@0.1.5" (instance $wharf:plugin/log@0.1.5))
      (with "wharf:plugin/state@0.1.5" (instance $wharf:plugin/state@0.1.5))
      (with "wharf:plugin/events@0.1.5" (instance $wharf:plugin/events@0.1.5))
      (with "wharf:plugin/settings@0.1.5" (instance $wharf:plugin/settings@0.1.5))
      (with "wharf:plugin/process@0.1.5" (instance $wharf:plugin/process@0.1.5))
      (with "wharf:plugin/workspace@0.1.5" (instance $wharf:plugin/workspace@0.1.5))
      (with "wharf:plugin/terminal@0.1.5" (instance $wharf:plugin/terminal@0.1.5))
      (with "wharf:plugin/webview@0.1.5" (instance $wharf:plugin/webview@0.1.5))
    )
  )
  (alias core export $main "memory" (core memory $memory (;0;)))
  (core module $wit-component-fixup (;2;)
    (type (;0;) (func (param i32)))
    (type (;1;) (func (param i32 i32 i32 i32)))
    (type (;2;) (func (param i32 i32 i32 i32 i32)))
    (type (;3;) (func (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (type (;4;) (func (param i32 i32)))
    (type (;5;) (func (param f64 i32 f64 i32 i32 i32 i32)))
    (type (;6;) (func (param i32 i32 i32 i32 i32 i32)))
    (type (;7;) (func (param i32 i32 i32 i32 i32 f64 i32)))
    (type (;8;) (func (param i32 i32 i32)))
    (type (;9;) (func (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i64 i32 i32 i32 i32)))
    (type (;10;) (func (param i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i64 i32 i32 i32 i32)))
    (type (;11;) (func (param i32 i32 i32 i32 i32 i64 i32 i32 i32 i64 i32 i32 i32 i32 i64 i64 i32)))
    (type (;12;) (func (param i32 i32 i32 i32 i64 i32 i32)))
    (type (;13;) (func (param i32 i32 i32 i32 i32 i32 i32)))
    (type (;14;) (func (param i32 i32 i32 i32 i64 i32)))
    (type (;15;) (func (param i32 i32 i64 i32)))
    (type (;16;) (func (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
    (type (;17;) (func (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
    (type (;18;) (func (param i32 i32 i64 i64 i32 i64 i32)))
    (type (;19;) (func (param i32 i32 i32 i32 i64 i32 i64 i32)))
    (type (;20;) (func (param i32 i32 i32 i32 i32 i32 i64 i32 i32 i32 i32 i32)))
    (type (;21;) (func (param i32 i32 i32 i32 i32 i32 i64 i32)))
    (type (;22;) (func (param i32 i32 i64 i32 i32)))
    (type (;23;) (func))
    (import "actual" "0" (func (;0;) (type 0) (param i32)))
    (import "actual" "1" (func (;1;) (type 0) (param i32)))
    (import "actual" "2" (func (;2;) (type 0) (param i32)))
    (import "actual" "3" (func (;3;) (type 0) (param i32)))
    (import "actual" "4" (func (;4;) (type 1) (param i32 i32 i32 i32)))
    (import "actual" "5" (func (;5;) (type 2) (param i32 i32 i32 i32 i32)))
    (import "actual" "6" (func (;6;) (type 1) (param i32 i32 i32 i32)))
    (import "actual" "7" (func (;7;) (type 1) (param i32 i32 i32 i32)))
    (import "actual" "8" (func (;8;) (type 3) (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (import "actual" "9" (func (;9;) (type 4) (param i32 i32)))
    (import "actual" "10" (func (;10;) (type 4) (param i32 i32)))
    (import "actual" "11" (func (;11;) (type 5) (param f64 i32 f64 i32 i32 i32 i32)))
    (import "actual" "12" (func (;12;) (type 2) (param i32 i32 i32 i32 i32)))
    (import "actual" "13" (func (;13;) (type 6) (param i32 i32 i32 i32 i32 i32)))
    (import "actual" "14" (func (;14;) (type 2) (param i32 i32 i32 i32 i32)))
    (import "actual" "15" (func (;15;) (type 2) (param i32 i32 i32 i32 i32)))
    (import "actual" "16" (func (;16;) (type 7) (param i32 i32 i32 i32 i32 f64 i32)))
    (import "actual" "17" (func (;17;) (type 8) (param i32 i32 i32)))
    (import "actual" "18" (func (;18;) (type 8) (param i32 i32 i32)))
    (import "actual" "19" (func (;19;) (type 8) (param i32 i32 i32)))
    (import "actual" "20" (func (;20;) (type 0) (param i32)))
    (import "actual" "21" (func (;21;) (type 0) (param i32)))
    (import "actual" "22" (func (;22;) (type 9) (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i64 i32 i32 i32 i32)))
    (import "actual" "23" (func (;23;) (type 10) (param i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i64 i32 i32 i32 i32)))
    (import "actual" "24" (func (;24;) (type 0) (param i32)))
    (import "actual" "25" (func (;25;) (type 2) (param i32 i32 i32 i32 i32)))
    (import "actual" "26" (func (;26;) (type 11) (param i32 i32 i32 i32 i32 i64 i32 i32 i32 i64 i32 i32 i32 i32 i64 i64 i32)))
    (import "actual" "27" (func (;27;) (type 12) (param i32 i32 i32 i32 i64 i32 i32)))
    (import "actual" "28" (func (;28;) (type 13) (param i32 i32 i32 i32 i32 i32 i32)))
    (import "actual" "29" (func (;29;) (type 13) (param i32 i32 i32 i32 i32 i32 i32)))
    (import "actual" "30" (func (;30;) (type 14) (param i32 i32 i32 i32 i64 i32)))
    (import "actual" "31" (func (;31;) (type 8) (param i32 i32 i32)))
    (import "actual" "32" (func (;32;) (type 2) (param i32 i32 i32 i32 i32)))
    (import "actual" "33" (func (;33;) (type 15) (param i32 i32 i64 i32)))
    (import "actual" "34" (func (;34;) (type 0) (param i32)))
    (import "actual" "35" (func (;35;) (type 0) (param i32)))
    (import "actual" "36" (func (;36;) (type 0) (param i32)))
    (import "actual" "37" (func (;37;) (type 0) (param i32)))
    (import "actual" "38" (func (;38;) (type 0) (param i32)))
    (import "actual" "39" (func (;39;) (type 16) (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
    (import "actual" "40" (func (;40;) (type 17) (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
    (import "actual" "41" (func (;41;) (type 0) (param i32)))
    (import "actual" "42" (func (;42;) (type 8) (param i32 i32 i32)))
    (import "actual" "43" (func (;43;) (type 4) (param i32 i32)))
    (import "actual" "44" (func (;44;) (type 18) (param i32 i32 i64 i64 i32 i64 i32)))
    (import "actual" "45" (func (;45;) (type 15) (param i32 i32 i64 i32)))
    (import "actual" "46" (func (;46;) (type 2) (param i32 i32 i32 i32 i32)))
    (import "actual" "47" (func (;47;) (type 1) (param i32 i32 i32 i32)))
    (import "actual" "48" (func (;48;) (type 19) (param i32 i32 i32 i32 i64 i32 i64 i32)))
    (import "actual" "49" (func (;49;) (type 2) (param i32 i32 i32 i32 i32)))
    (import "actual" "50" (func (;50;) (type 15) (param i32 i32 i64 i32)))
    (import "actual" "51" (func (;51;) (type 0) (param i32)))
    (import "actual" "52" (func (;52;) (type 3) (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (import "actual" "53" (func (;53;) (type 0) (param i32)))
    (import "actual" "54" (func (;54;) (type 8) (param i32 i32 i32)))
    (import "actual" "55" (func (;55;) (type 8) (param i32 i32 i32)))
    (import "actual" "56" (func (;56;) (type 20) (param i32 i32 i32 i32 i32 i32 i64 i32 i32 i32 i32 i32)))
    (import "actual" "57" (func (;57;) (type 21) (param i32 i32 i32 i32 i32 i32 i64 i32)))
    (import "actual" "58" (func (;58;) (type 8) (param i32 i32 i32)))
    (import "actual" "59" (func (;59;) (type 15) (param i32 i32 i64 i32)))
    (import "actual" "60" (func (;60;) (type 8) (param i32 i32 i32)))
    (import "actual" "61" (func (;61;) (type 8) (param i32 i32 i32)))
    (import "actual" "62" (func (;62;) (type 22) (param i32 i32 i64 i32 i32)))
    (import "actual" "63" (func (;63;) (type 13) (param i32 i32 i32 i32 i32 i32 i32)))
    (import "actual" "64" (func (;64;) (type 12) (param i32 i32 i32 i32 i64 i32 i32)))
    (import "main" "_initialize" (func (;65;) (type 23)))
    (import "shim" "$imports" (table (;0;) 65 65 funcref))
    (start 65)
    (elem (;0;) (i32.const 0) func 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64)
    (@producers
      (processed-by "wit-component" "0.263.0")
    )
  )
  (alias export $wharf:plugin/caller@0.1.5 "session" (func $session (;1;)))
  (alias core export $main "cabi_realloc" (core func $cabi_realloc (;67;)))
  (core func $"#core-func68 indirect-wharf:plugin/caller@0.1.5-session" (@name "indirect-wharf:plugin/caller@0.1.5-session") (;68;) (canon lower (func $session) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/caller@0.1.5 "assistant" (func $assistant (;2;)))
  (core func $"#core-func69 indirect-wharf:plugin/caller@0.1.5-assistant" (@name "indirect-wharf:plugin/caller@0.1.5-assistant") (;69;) (canon lower (func $assistant) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/caller@0.1.5 "thread" (func $thread (;3;)))
  (core func $"#core-func70 indirect-wharf:plugin/caller@0.1.5-thread" (@name "indirect-wharf:plugin/caller@0.1.5-thread") (;70;) (canon lower (func $thread) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/caller@0.1.5 "request-meta" (func $request-meta (;4;)))
  (core func $"#core-func71 indirect-wharf:plugin/caller@0.1.5-request-meta" (@name "indirect-wharf:plugin/caller@0.1.5-request-meta") (;71;) (canon lower (func $request-meta) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/log@0.1.5 "write" (func $write (;5;)))
  (core func $"#core-func72 indirect-wharf:plugin/log@0.1.5-write" (@name "indirect-wharf:plugin/log@0.1.5-write") (;72;) (canon lower (func $write) (memory $memory) string-encoding=utf8))
  (alias export $wharf:plugin/state@0.1.5 "[static]bucket.open" (func $"[static]bucket.open" (;6;)))
  (core func $"#core-func73 indirect-wharf:plugin/state@0.1.5-[static]bucket.open" (@name "indirect-wharf:plugin/state@0.1.5-[static]bucket.open") (;73;) (canon lower (func $"[static]bucket.open") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/state@0.1.5 "[method]bucket.get-many" (func $"[method]bucket.get-many" (;7;)))
  (core func $"#core-func74 indirect-wharf:plugin/state@0.1.5-[method]bucket.get-many" (@name "indirect-wharf:plugin/state@0.1.5-[method]bucket.get-many") (;74;) (canon lower (func $"[method]bucket.get-many") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/state@0.1.5 "[method]bucket.apply" (func $"[method]bucket.apply" (;8;)))
  (core func $"#core-func75 indirect-wharf:plugin/state@0.1.5-[method]bucket.apply" (@name "indirect-wharf:plugin/state@0.1.5-[method]bucket.apply") (;75;) (canon lower (func $"[method]bucket.apply") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/state@0.1.5 "[method]bucket.scan" (func $"[method]bucket.scan" (;9;)))
  (core func $"#core-func76 indirect-wharf:plugin/state@0.1.5-[method]bucket.scan" (@name "indirect-wharf:plugin/state@0.1.5-[method]bucket.scan") (;76;) (canon lower (func $"[method]bucket.scan") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/state@0.1.5 "[method]bucket.usage" (func $"[method]bucket.usage" (;10;)))
  (core func $"#core-func77 indirect-wharf:plugin/state@0.1.5-[method]bucket.usage" (@name "indirect-wharf:plugin/state@0.1.5-[method]bucket.usage") (;77;) (canon lower (func $"[method]bucket.usage") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/state@0.1.5 "[method]bucket.expired-at" (func $"[method]bucket.expired-at" (;11;)))
  (core func $"#core-func78 indirect-wharf:plugin/state@0.1.5-[method]bucket.expired-at" (@name "indirect-wharf:plugin/state@0.1.5-[method]bucket.expired-at") (;78;) (canon lower (func $"[method]bucket.expired-at") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/events@0.1.5 "progress" (func $progress (;12;)))
  (core func $"#core-func79 indirect-wharf:plugin/events@0.1.5-progress" (@name "indirect-wharf:plugin/events@0.1.5-progress") (;79;) (canon lower (func $progress) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/events@0.1.5 "message" (func $message (;13;)))
  (core func $"#core-func80 indirect-wharf:plugin/events@0.1.5-message" (@name "indirect-wharf:plugin/events@0.1.5-message") (;80;) (canon lower (func $message) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/events@0.1.5 "open-stream" (func $open-stream (;14;)))
  (core func $"#core-func81 indirect-wharf:plugin/events@0.1.5-open-stream" (@name "indirect-wharf:plugin/events@0.1.5-open-stream") (;81;) (canon lower (func $open-stream) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/events@0.1.5 "status" (func $status (;15;)))
  (core func $"#core-func82 indirect-wharf:plugin/events@0.1.5-status" (@name "indirect-wharf:plugin/events@0.1.5-status") (;82;) (canon lower (func $status) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/events@0.1.5 "say" (func $say (;16;)))
  (core func $"#core-func83 indirect-wharf:plugin/events@0.1.5-say" (@name "indirect-wharf:plugin/events@0.1.5-say") (;83;) (canon lower (func $say) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/events@0.1.5 "advance" (func $advance (;17;)))
  (core func $"#core-func84 indirect-wharf:plugin/events@0.1.5-advance" (@name "indirect-wharf:plugin/events@0.1.5-advance") (;84;) (canon lower (func $advance) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/events@0.1.5 "complete" (func $complete (;18;)))
  (core func $"#core-func85 indirect-wharf:plugin/events@0.1.5-complete" (@name "indirect-wharf:plugin/events@0.1.5-complete") (;85;) (canon lower (func $complete) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/events@0.1.5 "changed" (func $changed (;19;)))
  (core func $"#core-func86 indirect-wharf:plugin/events@0.1.5-changed" (@name "indirect-wharf:plugin/events@0.1.5-changed") (;86;) (canon lower (func $changed) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/events@0.1.5 "updated" (func $updated (;20;)))
  (core func $"#core-func87 indirect-wharf:plugin/events@0.1.5-updated" (@name "indirect-wharf:plugin/events@0.1.5-updated") (;87;) (canon lower (func $updated) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/settings@0.1.5 "get" (func $get (;21;)))
  (core func $"#core-func88 indirect-wharf:plugin/settings@0.1.5-get" (@name "indirect-wharf:plugin/settings@0.1.5-get") (;88;) (canon lower (func $get) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.5 "status" (func $"#func22 status" (@name "status") (;22;)))
  (core func $"#core-func89 indirect-wharf:plugin/process@0.1.5-status" (@name "indirect-wharf:plugin/process@0.1.5-status") (;89;) (canon lower (func $"#func22 status") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.5 "spawn" (func $spawn (;23;)))
  (core func $"#core-func90 indirect-wharf:plugin/process@0.1.5-spawn" (@name "indirect-wharf:plugin/process@0.1.5-spawn") (;90;) (canon lower (func $spawn) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.5 "spawn-shell" (func $spawn-shell (;24;)))
  (core func $"#core-func91 indirect-wharf:plugin/process@0.1.5-spawn-shell" (@name "indirect-wharf:plugin/process@0.1.5-spawn-shell") (;91;) (canon lower (func $spawn-shell) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.5 "list" (func $list (;25;)))
  (core func $"#core-func92 indirect-wharf:plugin/process@0.1.5-list" (@name "indirect-wharf:plugin/process@0.1.5-list") (;92;) (canon lower (func $list) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.5 "poll" (func $poll (;26;)))
  (core func $"#core-func93 indirect-wharf:plugin/process@0.1.5-poll" (@name "indirect-wharf:plugin/process@0.1.5-poll") (;93;) (canon lower (func $poll) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.5 "wait" (func $wait (;27;)))
  (core func $"#core-func94 indirect-wharf:plugin/process@0.1.5-wait" (@name "indirect-wharf:plugin/process@0.1.5-wait") (;94;) (canon lower (func $wait) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.5 "read" (func $read (;28;)))
  (core func $"#core-func95 indirect-wharf:plugin/process@0.1.5-read" (@name "indirect-wharf:plugin/process@0.1.5-read") (;95;) (canon lower (func $read) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.5 "head" (func $head (;29;)))
  (core func $"#core-func96 indirect-wharf:plugin/process@0.1.5-head" (@name "indirect-wharf:plugin/process@0.1.5-head") (;96;) (canon lower (func $head) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.5 "tail" (func $tail (;30;)))
  (core func $"#core-func97 indirect-wharf:plugin/process@0.1.5-tail" (@name "indirect-wharf:plugin/process@0.1.5-tail") (;97;) (canon lower (func $tail) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.5 "write" (func $"#func31 write" (@name "write") (;31;)))
  (core func $"#core-func98 indirect-wharf:plugin/process@0.1.5-write" (@name "indirect-wharf:plugin/process@0.1.5-write") (;98;) (canon lower (func $"#func31 write") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.5 "close-input" (func $close-input (;32;)))
  (core func $"#core-func99 indirect-wharf:plugin/process@0.1.5-close-input" (@name "indirect-wharf:plugin/process@0.1.5-close-input") (;99;) (canon lower (func $close-input) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.5 "signal" (func $signal (;33;)))
  (core func $"#core-func100 indirect-wharf:plugin/process@0.1.5-signal" (@name "indirect-wharf:plugin/process@0.1.5-signal") (;100;) (canon lower (func $signal) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.5 "stop" (func $stop (;34;)))
  (core func $"#core-func101 indirect-wharf:plugin/process@0.1.5-stop" (@name "indirect-wharf:plugin/process@0.1.5-stop") (;101;) (canon lower (func $stop) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/workspace@0.1.5 "files" (func $files (;35;)))
  (core func $"#core-func102 indirect-wharf:plugin/workspace@0.1.5-files" (@name "indirect-wharf:plugin/workspace@0.1.5-files") (;102;) (canon lower (func $files) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/workspace@0.1.5 "create" (func $create (;36;)))
  (core func $"#core-func103 indirect-wharf:plugin/workspace@0.1.5-create" (@name "indirect-wharf:plugin/workspace@0.1.5-create") (;103;) (canon lower (func $create) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/workspace@0.1.5 "exchange" (func $exchange (;37;)))
  (core func $"#core-func104 indirect-wharf:plugin/workspace@0.1.5-exchange" (@name "indirect-wharf:plugin/workspace@0.1.5-exchange") (;104;) (canon lower (func $exchange) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/workspace@0.1.5 "measure" (func $measure (;38;)))
  (core func $"#core-func105 indirect-wharf:plugin/workspace@0.1.5-measure" (@name "indirect-wharf:plugin/workspace@0.1.5-measure") (;105;) (canon lower (func $measure) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.5 "status" (func $"#func39 status" (@name "status") (;39;)))
  (core func $"#core-func106 indirect-wharf:plugin/terminal@0.1.5-status" (@name "indirect-wharf:plugin/terminal@0.1.5-status") (;106;) (canon lower (func $"#func39 status") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.5 "start" (func $start (;40;)))
  (core func $"#core-func107 indirect-wharf:plugin/terminal@0.1.5-start" (@name "indirect-wharf:plugin/terminal@0.1.5-start") (;107;) (canon lower (func $start) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.5 "start-shell" (func $start-shell (;41;)))
  (core func $"#core-func108 indirect-wharf:plugin/terminal@0.1.5-start-shell" (@name "indirect-wharf:plugin/terminal@0.1.5-start-shell") (;108;) (canon lower (func $start-shell) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.5 "list" (func $"#func42 list" (@name "list") (;42;)))
  (core func $"#core-func109 indirect-wharf:plugin/terminal@0.1.5-list" (@name "indirect-wharf:plugin/terminal@0.1.5-list") (;109;) (canon lower (func $"#func42 list") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.5 "get" (func $"#func43 get" (@name "get") (;43;)))
  (core func $"#core-func110 indirect-wharf:plugin/terminal@0.1.5-get" (@name "indirect-wharf:plugin/terminal@0.1.5-get") (;110;) (canon lower (func $"#func43 get") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.5 "send" (func $send (;44;)))
  (core func $"#core-func111 indirect-wharf:plugin/terminal@0.1.5-send" (@name "indirect-wharf:plugin/terminal@0.1.5-send") (;111;) (canon lower (func $send) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.5 "follow" (func $follow (;45;)))
  (core func $"#core-func112 indirect-wharf:plugin/terminal@0.1.5-follow" (@name "indirect-wharf:plugin/terminal@0.1.5-follow") (;112;) (canon lower (func $follow) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.5 "cancel" (func $cancel (;46;)))
  (core func $"#core-func113 indirect-wharf:plugin/terminal@0.1.5-cancel" (@name "indirect-wharf:plugin/terminal@0.1.5-cancel") (;113;) (canon lower (func $cancel) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.5 "press" (func $press (;47;)))
  (core func $"#core-func114 indirect-wharf:plugin/terminal@0.1.5-press" (@name "indirect-wharf:plugin/terminal@0.1.5-press") (;114;) (canon lower (func $press) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.5 "screen" (func $screen (;48;)))
  (core func $"#core-func115 indirect-wharf:plugin/terminal@0.1.5-screen" (@name "indirect-wharf:plugin/terminal@0.1.5-screen") (;115;) (canon lower (func $screen) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.5 "read" (func $"#func49 read" (@name "read") (;49;)))
  (core func $"#core-func116 indirect-wharf:plugin/terminal@0.1.5-read" (@name "indirect-wharf:plugin/terminal@0.1.5-read") (;116;) (canon lower (func $"#func49 read") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.5 "resize" (func $resize (;50;)))
  (core func $"#core-func117 indirect-wharf:plugin/terminal@0.1.5-resize" (@name "indirect-wharf:plugin/terminal@0.1.5-resize") (;117;) (canon lower (func $resize) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.5 "close" (func $close (;51;)))
  (core func $"#core-func118 indirect-wharf:plugin/terminal@0.1.5-close" (@name "indirect-wharf:plugin/terminal@0.1.5-close") (;118;) (canon lower (func $close) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.5 "status" (func $"#func52 status" (@name "status") (;52;)))
  (core func $"#core-func119 indirect-wharf:plugin/webview@0.1.5-status" (@name "indirect-wharf:plugin/webview@0.1.5-status") (;119;) (canon lower (func $"#func52 status") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.5 "open" (func $open (;53;)))
  (core func $"#core-func120 indirect-wharf:plugin/webview@0.1.5-open" (@name "indirect-wharf:plugin/webview@0.1.5-open") (;120;) (canon lower (func $open) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.5 "list" (func $"#func54 list" (@name "list") (;54;)))
  (core func $"#core-func121 indirect-wharf:plugin/webview@0.1.5-list" (@name "indirect-wharf:plugin/webview@0.1.5-list") (;121;) (canon lower (func $"#func54 list") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.5 "get" (func $"#func55 get" (@name "get") (;55;)))
  (core func $"#core-func122 indirect-wharf:plugin/webview@0.1.5-get" (@name "indirect-wharf:plugin/webview@0.1.5-get") (;122;) (canon lower (func $"#func55 get") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.5 "close" (func $"#func56 close" (@name "close") (;56;)))
  (core func $"#core-func123 indirect-wharf:plugin/webview@0.1.5-close" (@name "indirect-wharf:plugin/webview@0.1.5-close") (;123;) (canon lower (func $"#func56 close") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.5 "execute-script" (func $execute-script (;57;)))
  (core func $"#core-func124 indirect-wharf:plugin/webview@0.1.5-execute-script" (@name "indirect-wharf:plugin/webview@0.1.5-execute-script") (;124;) (canon lower (func $execute-script) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.5 "perform" (func $perform (;58;)))
  (core func $"#core-func125 indirect-wharf:plugin/webview@0.1.5-perform" (@name "indirect-wharf:plugin/webview@0.1.5-perform") (;125;) (canon lower (func $perform) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.5 "poll" (func $"#func59 poll" (@name "poll") (;59;)))
  (core func $"#core-func126 indirect-wharf:plugin/webview@0.1.5-poll" (@name "indirect-wharf:plugin/webview@0.1.5-poll") (;126;) (canon lower (func $"#func59 poll") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.5 "wait" (func $"#func60 wait" (@name "wait") (;60;)))
  (core func $"#core-func127 indirect-wharf:plugin/webview@0.1.5-wait" (@name "indirect-wharf:plugin/webview@0.1.5-wait") (;127;) (canon lower (func $"#func60 wait") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.5 "acknowledge" (func $acknowledge (;61;)))
  (core func $"#core-func128 indirect-wharf:plugin/webview@0.1.5-acknowledge" (@name "indirect-wharf:plugin/webview@0.1.5-acknowledge") (;128;) (canon lower (func $acknowledge) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.5 "cancel" (func $"#func62 cancel" (@name "cancel") (;62;)))
  (core func $"#core-func129 indirect-wharf:plugin/webview@0.1.5-cancel" (@name "indirect-wharf:plugin/webview@0.1.5-cancel") (;129;) (canon lower (func $"#func62 cancel") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.5 "read-result" (func $read-result (;63;)))
  (core func $"#core-func130 indirect-wharf:plugin/webview@0.1.5-read-result" (@name "indirect-wharf:plugin/webview@0.1.5-read-result") (;130;) (canon lower (func $read-result) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.5 "answer-dialog" (func $answer-dialog (;64;)))
  (core func $"#core-func131 indirect-wharf:plugin/webview@0.1.5-answer-dialog" (@name "indirect-wharf:plugin/webview@0.1.5-answer-dialog") (;131;) (canon lower (func $answer-dialog) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.5 "entries" (func $entries (;65;)))
  (core func $"#core-func132 indirect-wharf:plugin/webview@0.1.5-entries" (@name "indirect-wharf:plugin/webview@0.1.5-entries") (;132;) (canon lower (func $entries) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (core instance $actual (;11;)
    (export "0" (func $"#core-func68 indirect-wharf:plugin/caller@0.1.5-session"))
    (export "1" (func $"#core-func69 indirect-wharf:plugin/caller@0.1.5-assistant"))
    (export "2" (func $"#core-func70 indirect-wharf:plugin/caller@0.1.5-thread"))
    (export "3" (func $"#core-func71 indirect-wharf:plugin/caller@0.1.5-request-meta"))
    (export "4" (func $"#core-func72 indirect-wharf:plugin/log@0.1.5-write"))
    (export "5" (func $"#core-func73 indirect-wharf:plugin/state@0.1.5-[static]bucket.open"))
    (export "6" (func $"#core-func74 indirect-wharf:plugin/state@0.1.5-[method]bucket.get-many"))
    (export "7" (func $"#core-func75 indirect-wharf:plugin/state@0.1.5-[method]bucket.apply"))
    (export "8" (func $"#core-func76 indirect-wharf:plugin/state@0.1.5-[method]bucket.scan"))
    (export "9" (func $"#core-func77 indirect-wharf:plugin/state@0.1.5-[method]bucket.usage"))
    (export "10" (func $"#core-func78 indirect-wharf:plugin/state@0.1.5-[method]bucket.expired-at"))
    (export "11" (func $"#core-func79 indirect-wharf:plugin/events@0.1.5-progress"))
    (export "12" (func $"#core-func80 indirect-wharf:plugin/events@0.1.5-message"))
    (export "13" (func $"#core-func81 indirect-wharf:plugin/events@0.1.5-open-stream"))
    (export "14" (func $"#core-func82 indirect-wharf:plugin/events@0.1.5-status"))
    (export "15" (func $"#core-func83 indirect-wharf:plugin/events@0.1.5-say"))
    (export "16" (func $"#core-func84 indirect-wharf:plugin/events@0.1.5-advance"))
    (export "17" (func $"#core-func85 indirect-wharf:plugin/events@0.1.5-complete"))
    (export "18" (func $"#core-func86 indirect-wharf:plugin/events@0.1.5-changed"))
    (export "19" (func $"#core-func87 indirect-wharf:plugin/events@0.1.5-updated"))
    (export "20" (func $"#core-func88 indirect-wharf:plugin/settings@0.1.5-get"))
    (export "21" (func $"#core-func89 indirect-wharf:plugin/process@0.1.5-status"))
    (export "22" (func $"#core-func90 indirect-wharf:plugin/process@0.1.5-spawn"))
    (export "23" (func $"#core-func91 indirect-wharf:plugin/process@0.1.5-spawn-shell"))
    (export "24" (func $"#core-func92 indirect-wharf:plugin/process@0.1.5-list"))
    (export "25" (func $"#core-func93 indirect-wharf:plugin/process@0.1.5-poll"))
    (export "26" (func $"#core-func94 indirect-wharf:plugin/process@0.1.5-wait"))
    (export "27" (func $"#core-func95 indirect-wharf:plugin/process@0.1.5-read"))
    (export "28" (func $"#core-func96 indirect-wharf:plugin/process@0.1.5-head"))
    (export "29" (func $"#core-func97 indirect-wharf:plugin/process@0.1.5-tail"))
    (export "30" (func $"#core-func98 indirect-wharf:plugin/process@0.1.5-write"))
    (export "31" (func $"#core-func99 indirect-wharf:plugin/process@0.1.5-close-input"))
    (export "32" (func $"#core-func100 indirect-wharf:plugin/process@0.1.5-signal"))
    (export "33" (func $"#core-func101 indirect-wharf:plugin/process@0.1.5-stop"))
    (export "34" (func $"#core-func102 indirect-wharf:plugin/workspace@0.1.5-files"))
    (export "35" (func $"#core-func103 indirect-wharf:plugin/workspace@0.1.5-create"))
    (export "36" (func $"#core-func104 indirect-wharf:plugin/workspace@0.1.5-exchange"))
    (export "37" (func $"#core-func105 indirect-wharf:plugin/workspace@0.1.5-measure"))
    (export "38" (func $"#core-func106 indirect-wharf:plugin/terminal@0.1.5-status"))
    (export "39" (func $"#core-func107 indirect-wharf:plugin/terminal@0.1.5-start"))
    (export "40" (func $"#core-func108 indirect-wharf:plugin/terminal@0.1.5-start-shell"))
    (export "41" (func $"#core-func109 indirect-wharf:plugin/terminal@0.1.5-list"))
    (export "42" (func $"#core-func110 indirect-wharf:plugin/terminal@0.1.5-get"))
    (export "43" (func $"#core-func111 indirect-wharf:plugin/terminal@0.1.5-send"))
    (export "44" (func $"#core-func112 indirect-wharf:plugin/terminal@0.1.5-follow"))
    (export "45" (func $"#core-func113 indirect-wharf:plugin/terminal@0.1.5-cancel"))
    (export "46" (func $"#core-func114 indirect-wharf:plugin/terminal@0.1.5-press"))
    (export "47" (func $"#core-func115 indirect-wharf:plugin/terminal@0.1.5-screen"))
    (export "48" (func $"#core-func116 indirect-wharf:plugin/terminal@0.1.5-read"))
    (export "49" (func $"#core-func117 indirect-wharf:plugin/terminal@0.1.5-resize"))
    (export "50" (func $"#core-func118 indirect-wharf:plugin/terminal@0.1.5-close"))
    (export "51" (func $"#core-func119 indirect-wharf:plugin/webview@0.1.5-status"))
    (export "52" (func $"#core-func120 indirect-wharf:plugin/webview@0.1.5-open"))
    (export "53" (func $"#core-func121 indirect-wharf:plugin/webview@0.1.5-list"))
    (export "54" (func $"#core-func122 indirect-wharf:plugin/webview@0.1.5-get"))
    (export "55" (func $"#core-func123 indirect-wharf:plugin/webview@0.1.5-close"))
    (export "56" (func $"#core-func124 indirect-wharf:plugin/webview@0.1.5-execute-script"))
    (export "57" (func $"#core-func125 indirect-wharf:plugin/webview@0.1.5-perform"))
    (export "58" (func $"#core-func126 indirect-wharf:plugin/webview@0.1.5-poll"))
    (export "59" (func $"#core-func127 indirect-wharf:plugin/webview@0.1.5-wait"))
    (export "60" (func $"#core-func128 indirect-wharf:plugin/webview@0.1.5-acknowledge"))
    (export "61" (func $"#core-func129 indirect-wharf:plugin/webview@0.1.5-cancel"))
    (export "62" (func $"#core-func130 indirect-wharf:plugin/webview@0.1.5-read-result"))
    (export "63" (func $"#core-func131 indirect-wharf:plugin/webview@0.1.5-answer-dialog"))
    (export "64" (func $"#core-func132 indirect-wharf:plugin/webview@0.1.5-entries"))
  )
  (core instance $fixup (;12;) (instantiate $wit-component-fixup
      (with "actual" (instance $actual))
      (with "main" (instance $main))
      (with "shim" (instance $wit-component-shim-instance))
    )
  )
  (type (;38;) (list 18))
  (type (;39;) (func (result 38)))
  (alias core export $main "wharf:plugin/tools@0.1.5#list-tools" (core func $wharf:plugin/tools@0.1.5#list-tools (;133;)))
  (alias core export $main "cabi_post_wharf:plugin/tools@0.1.5#list-tools" (core func $cabi_post_wharf:plugin/tools@0.1.5#list-tools (;134;)))
  (func $list-tools (;66;) (type 39) (canon lift (core func $wharf:plugin/tools@0.1.5#list-tools) (memory $memory) string-encoding=utf8 (post-return $cabi_post_wharf:plugin/tools@0.1.5#list-tools)))
  (type (;40;) (result 22 (error $"#type16 error")))
  (type (;41;) (func (param "name" string) (param "arguments" string) (result 40)))
  (alias core export $main "wharf:plugin/tools@0.1.5#call-tool" (core func $wharf:plugin/tools@0.1.5#call-tool (;135;)))
  (alias core export $main "cabi_post_wharf:plugin/tools@0.1.5#call-tool" (core func $cabi_post_wharf:plugin/tools@0.1.5#call-tool (;136;)))
  (func $call-tool (;67;) (type 41) (canon lift (core func $wharf:plugin/tools@0.1.5#call-tool) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8 (post-return $cabi_post_wharf:plugin/tools@0.1.5#call-tool)))
  (component $wharf:plugin/tools@0.1.5-shim-component (;0;)
    (type (;0;) (record (field "code" string) (field "message" string) (field "retryable" bool)))
    (import "import-type-error" (type (;1;) (eq 0)))
    (type (;2;) (option string))
    (type (;3;) (record (field "name" string) (field "description" string) (field "input-schema" string) (field "output-schema" 2) (field "meta" 2)))
    (import "import-type-tool" (type (;4;) (eq 3)))
    (type (;5;) (list 4))
    (type (;6;) (func (result 5)))
    (import "import-func-list-tools" (func (;0;) (type 6)))
    (type (;7;) (list u8))
    (type (;8;) (record (field "mime-type" string) (field "data" 7) (field "meta" 2)))
    (import "import-type-content" (type (;9;) (eq 8)))
    (type (;10;) (list 9))
    (type (;11;) (record (field "content" 10) (field "structured" 2) (field "is-error" bool) (field "meta" 2)))
    (import "import-type-answer" (type (;12;) (eq 11)))
    (import "import-type-error0" (type (;13;) (eq 1)))
    (type (;14;) (result 12 (error 13)))
    (type (;15;) (func (param "name" string) (param "arguments" string) (result 14)))
    (import "import-func-call-tool" (func (;1;) (type 15)))
    (export (;16;) "error" (type 1))
    (type (;17;) (option string))
    (type (;18;) (record (field "name" string) (field "description" string) (field "input-schema" string) (field "output-schema" 17) (field "meta" 17)))
    (export (;19;) "tool" (type 18))
    (type (;20;) (list u8))
    (type (;21;) (record (field "mime-type" string) (field "data" 20) (field "meta" 17)))
    (export (;22;) "content" (type 21))
    (type (;23;) (list 22))
    (type (;24;) (record (field "content" 23) (field "structured" 17) (field "is-error" bool) (field "meta" 17)))
    (export (;25;) "answer" (type 24))
    (type (;26;) (list 19))
    (type (;27;) (func (result 26)))
    (export (;2;) "list-tools" (func 0) (func (type 27)))
    (type (;28;) (result 25 (error 16)))
    (type (;29;) (func (param "name" string) (param "arguments" string) (result 28)))
    (export (;3;) "call-tool" (func 1) (func (type 29)))
  )
  (instance $wharf:plugin/tools@0.1.5-shim-instance (;10;) (instantiate $wharf:plugin/tools@0.1.5-shim-component
      (with "import-func-list-tools" (func $list-tools))
      (with "import-func-call-tool" (func $call-tool))
      (with "import-type-error" (type $"#type16 error"))
      (with "import-type-tool" (type 18))
      (with "import-type-content" (type 20))
      (with "import-type-answer" (type 22))
      (with "import-type-error0" (type $"#type16 error"))
    )
  )
  (export $wharf:plugin/tools@0.1.5 (;11;) "wharf:plugin/tools@0.1.5" (instance $wharf:plugin/tools@0.1.5-shim-instance))
  (type (;42;) (list 25))
  (type (;43;) (func (result 42)))
  (alias core export $main "wharf:plugin/prompts@0.1.5#list-prompts" (core func $wharf:plugin/prompts@0.1.5#list-prompts (;137;)))
  (alias core export $main "cabi_post_wharf:plugin/prompts@0.1.5#list-prompts" (core func $cabi_post_wharf:plugin/prompts@0.1.5#list-prompts (;138;)))
  (func $list-prompts (;68;) (type 43) (canon lift (core func $wharf:plugin/prompts@0.1.5#list-prompts) (memory $memory) string-encoding=utf8 (post-return $cabi_post_wharf:plugin/prompts@0.1.5#list-prompts)))
  (type (;44;) (result 28 (error $"#type16 error")))
  (type (;45;) (func (param "name" string) (param "arguments" string) (result 44)))
  (alias core export $main "wharf:plugin/prompts@0.1.5#get-prompt" (core func $wharf:plugin/prompts@0.1.5#get-prompt (;139;)))
  (alias core export $main "cabi_post_wharf:plugin/prompts@0.1.5#get-prompt" (core func $cabi_post_wharf:plugin/prompts@0.1.5#get-prompt (;140;)))
  (func $get-prompt (;69;) (type 45) (canon lift (core func $wharf:plugin/prompts@0.1.5#get-prompt) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8 (post-return $cabi_post_wharf:plugin/prompts@0.1.5#get-prompt)))
  (component $wharf:plugin/prompts@0.1.5-shim-component (;1;)
    (type (;0;) (record (field "code" string) (field "message" string) (field "retryable" bool)))
    (import "import-type-error" (type (;1;) (eq 0)))
    (type (;2;) (option string))
    (type (;3;) (record (field "name" string) (field "description" string) (field "required" bool) (field "meta" 2)))
    (import "import-type-argument" (type (;4;) (eq 3)))
    (type (;5;) (list 4))
    (type (;6;) (record (field "name" string) (field "description" string) (field "arguments" 5) (field "meta" 2)))
    (import "import-type-prompt" (type (;7;) (eq 6)))
    (type (;8;) (list 7))
    (type (;9;) (func (result 8)))
    (import "import-func-list-prompts" (func (;0;) (type 9)))
    (type (;10;) (list u8))
    (type (;11;) (record (field "role" string) (field "mime-type" string) (field "data" 10) (field "meta" 2)))
    (import "import-type-message" (type (;12;) (eq 11)))
    (type (;13;) (list 12))
    (type (;14;) (record (field "messages" 13) (field "description" 2) (field "meta" 2)))
    (import "import-type-answer" (type (;15;) (eq 14)))
    (import "import-type-error0" (type (;16;) (eq 1)))
    (type (;17;) (result 15 (error 16)))
    (type (;18;) (func (param "name" string) (param "arguments" string) (result 17)))
    (import "import-func-get-prompt" (func (;1;) (type 18)))
    (export (;19;) "error" (type 1))
    (type (;20;) (option string))
    (type (;21;) (record (field "name" string) (field "description" string) (field "required" bool) (field "meta" 20)))
    (export (;22;) "argument" (type 21))
    (type (;23;) (list 22))
    (type (;24;) (record (field "name" string) (field "description" string) (field "arguments" 23) (field "meta" 20)))
    (export (;25;) "prompt" (type 24))
    (type (;26;) (list u8))
    (type (;27;) (record (field "role" string) (field "mime-type" string) (field "data" 26) (field "meta" 20)))
    (export (;28;) "message" (type 27))
    (type (;29;) (list 28))
    (type (;30;) (record (field "messages" 29) (field "description" 20) (field "meta" 20)))
    (export (;31;) "answer" (type 30))
    (type (;32;) (list 25))
    (type (;33;) (func (result 32)))
    (export (;2;) "list-prompts" (func 0) (func (type 33)))
    (type (;34;) (result 31 (error 19)))
    (type (;35;) (func (param "name" string) (param "arguments" string) (result 34)))
    (export (;3;) "get-prompt" (func 1) (func (type 35)))
  )
  (instance $wharf:plugin/prompts@0.1.5-shim-instance (;12;) (instantiate $wharf:plugin/prompts@0.1.5-shim-component
      (with "import-func-list-prompts" (func $list-prompts))
      (with "import-func-get-prompt" (func $get-prompt))
      (with "import-type-error" (type $"#type16 error"))
      (with "import-type-argument" (type 23))
      (with "import-type-prompt" (type 25))
      (with "import-type-message" (type 26))
      (with "import-type-answer" (type 28))
      (with "import-type-error0" (type $"#type16 error"))
    )
  )
  (export $wharf:plugin/prompts@0.1.5 (;13;) "wharf:plugin/prompts@0.1.5" (instance $wharf:plugin/prompts@0.1.5-shim-instance))
  (type (;46;) (func (result 34)))
  (alias core export $main "wharf:plugin/resources@0.1.5#claims" (core func $wharf:plugin/resources@0.1.5#claims (;141;)))
  (alias core export $main "cabi_post_wharf:plugin/resources@0.1.5#claims" (core func $cabi_post_wharf:plugin/resources@0.1.5#claims (;142;)))
  (func $claims (;70;) (type 46) (canon lift (core func $wharf:plugin/resources@0.1.5#claims) (memory $memory) string-encoding=utf8 (post-return $cabi_post_wharf:plugin/resources@0.1.5#claims)))
  (type (;47;) (list 29))
  (type (;48;) (func (result 47)))
  (alias core export $main "wharf:plugin/resources@0.1.5#list-templates" (core func $wharf:plugin/resources@0.1.5#list-templates (;143;)))
  (alias core export $main "cabi_post_wharf:plugin/resources@0.1.5#list-templates" (core func $cabi_post_wharf:plugin/resources@0.1.5#list-templates (;144;)))
  (func $list-templates (;71;) (type 48) (canon lift (core func $wharf:plugin/resources@0.1.5#list-templates) (memory $memory) string-encoding=utf8 (post-return $cabi_post_wharf:plugin/resources@0.1.5#list-templates)))
  (type (;49;) (list 30))
  (type (;50;) (result 49 (error $"#type16 error")))
  (type (;51;) (func (result 50)))
  (alias core export $main "wharf:plugin/resources@0.1.5#list-resources" (core func $wharf:plugin/resources@0.1.5#list-resources (;145;)))
  (alias core export $main "cabi_post_wharf:plugin/resources@0.1.5#list-resources" (core func $cabi_post_wharf:plugin/resources@0.1.5#list-resources (;146;)))
  (func $list-resources (;72;) (type 51) (canon lift (core func $wharf:plugin/resources@0.1.5#list-resources) (memory $memory) string-encoding=utf8 (post-return $cabi_post_wharf:plugin/resources@0.1.5#list-resources)))
  (type (;52;) (result 33 (error $"#type16 error")))
  (type (;53;) (func (param "uri" string) (result 52)))
  (alias core export $main "wharf:plugin/resources@0.1.5#read-resource" (core func $wharf:plugin/resources@0.1.5#read-resource (;147;)))
  (alias core export $main "cabi_post_wharf:plugin/resources@0.1.5#read-resource" (core func $cabi_post_wharf:plugin/resources@0.1.5#read-resource (;148;)))
  (func $read-resource (;73;) (type 53) (canon lift (core func $wharf:plugin/resources@0.1.5#read-resource) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8 (post-return $cabi_post_wharf:plugin/resources@0.1.5#read-resource)))
  (component $wharf:plugin/resources@0.1.5-shim-component (;2;)
    (type (;0;) (record (field "code" string) (field "message" string) (field "retryable" bool)))
    (import "import-type-error" (type (;1;) (eq 0)))
    (type (;2;) (list string))
    (type (;3;) (func (result 2)))
    (import "import-func-claims" (func (;0;) (type 3)))
    (type (;4;) (option string))
    (type (;5;) (record (field "uri-template" string) (field "name" string) (field "description" string) (field "mime-type" 4) (field "meta" 4)))
    (import "import-type-template" (type (;6;) (eq 5)))
    (type (;7;) (list 6))
    (type (;8;) (func (result 7)))
    (import "import-func-list-templates" (func (;1;) (type 8)))
    (type (;9;) (record (field "uri" string) (field "name" string) (field "description" string) (field "mime-type" 4) (field "meta" 4)))
    (import "import-type-resource-info" (type (;10;) (eq 9)))
    (type (;11;) (list 10))
    (import "import-type-error0" (type (;12;) (eq 1)))
    (type (;13;) (result 11 (error 12)))
    (type (;14;) (func (result 13)))
    (import "import-func-list-resources" (func (;2;) (type 14)))
    (type (;15;) (list u8))
    (type (;16;) (record (field "uri" string) (field "mime-type" string) (field "data" 15) (field "meta" 4)))
    (import "import-type-part" (type (;17;) (eq 16)))
    (type (;18;) (list 17))
    (type (;19;) (record (field "parts" 18) (field "meta" 4)))
    (import "import-type-answer" (type (;20;) (eq 19)))
    (type (;21;) (result 20 (error 12)))
    (type (;22;) (func (param "uri" string) (result 21)))
    (import "import-func-read-resource" (func (;3;) (type 22)))
    (export (;23;) "error" (type 1))
    (type (;24;) (option string))
    (type (;25;) (record (field "uri-template" string) (field "name" string) (field "description" string) (field "mime-type" 24) (field "meta" 24)))
    (export (;26;) "template" (type 25))
    (type (;27;) (record (field "uri" string) (field "name" string) (field "description" string) (field "mime-type" 24) (field "meta" 24)))
    (export (;28;) "resource-info" (type 27))
    (type (;29;) (list u8))
    (type (;30;) (record (field "uri" string) (field "mime-type" string) (field "data" 29) (field "meta" 24)))
    (export (;31;) "part" (type 30))
    (type (;32;) (list 31))
    (type (;33;) (record (field "parts" 32) (field "meta" 24)))
    (export (;34;) "answer" (type 33))
    (type (;35;) (list string))
    (type (;36;) (func (result 35)))
    (export (;4;) "claims" (func 0) (func (type 36)))
    (type (;37;) (list 26))
    (type (;38;) (func (result 37)))
    (export (;5;) "list-templates" (func 1) (func (type 38)))
    (type (;39;) (list 28))
    (type (;40;) (result 39 (error 23)))
    (type (;41;) (func (result 40)))
    (export (;6;) "list-resources" (func 2) (func (type 41)))
    (type (;42;) (result 34 (error 23)))
    (type (;43;) (func (param "uri" string) (result 42)))
    (export (;7;) "read-resource" (func 3) (func (type 43)))
  )
  (instance $wharf:plugin/resources@0.1.5-shim-instance (;14;) (instantiate $wharf:plugin/resources@0.1.5-shim-component
      (with "import-func-claims" (func $claims))
      (with "import-func-list-templates" (func $list-templates))
      (with "import-func-list-resources" (func $list-resources))
      (with "import-func-read-resource" (func $read-resource))
      (with "import-type-error" (type $"#type16 error"))
      (with "import-type-template" (type 29))
      (with "import-type-resource-info" (type 30))
      (with "import-type-error0" (type $"#type16 error"))
      (with "import-type-part" (type 31))
      (with "import-type-answer" (type 33))
    )
  )
  (export $wharf:plugin/resources@0.1.5 (;15;) "wharf:plugin/resources@0.1.5" (instance $wharf:plugin/resources@0.1.5-shim-instance))
  (type (;54;) (result 36 (error $"#type16 error")))
  (type (;55;) (func (param "kind" string) (param "name" string) (param "argument" string) (param "typed" string) (param "others" string) (result 54)))
  (alias core export $main "wharf:plugin/completion@0.1.5#complete" (core func $wharf:plugin/completion@0.1.5#complete (;149;)))
  (alias core export $main "cabi_post_wharf:plugin/completion@0.1.5#complete" (core func $cabi_post_wharf:plugin/completion@0.1.5#complete (;150;)))
  (func $"#func74 complete" (@name "complete") (;74;) (type 55) (canon lift (core func $wharf:plugin/completion@0.1.5#complete) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8 (post-return $cabi_post_wharf:plugin/completion@0.1.5#complete)))
  (component $wharf:plugin/completion@0.1.5-shim-component (;3;)
    (type (;0;) (record (field "code" string) (field "message" string) (field "retryable" bool)))
    (import "import-type-error" (type (;1;) (eq 0)))
    (type (;2;) (list string))
    (type (;3;) (option u32))
    (type (;4;) (option string))
    (type (;5;) (record (field "values" 2) (field "total" 3) (field "has-more" bool) (field "meta" 4)))
    (import "import-type-completions" (type (;6;) (eq 5)))
    (import "import-type-error0" (type (;7;) (eq 1)))
    (type (;8;) (result 6 (error 7)))
    (type (;9;) (func (param "kind" string) (param "name" string) (param "argument" string) (param "typed" string) (param "others" string) (result 8)))
    (import "import-func-complete" (func (;0;) (type 9)))
    (export (;10;) "error" (type 1))
    (type (;11;) (list string))
    (type (;12;) (option u32))
    (type (;13;) (option string))
    (type (;14;) (record (field "values" 11) (field "total" 12) (field "has-more" bool) (field "meta" 13)))
    (export (;15;) "completions" (type 14))
    (type (;16;) (result 15 (error 10)))
    (type (;17;) (func (param "kind" string) (param "name" string) (param "argument" string) (param "typed" string) (param "others" string) (result 16)))
    (export (;1;) "complete" (func 0) (func (type 17)))
  )
  (instance $wharf:plugin/completion@0.1.5-shim-instance (;16;) (instantiate $wharf:plugin/completion@0.1.5-shim-component
      (with "import-func-complete" (func $"#func74 complete"))
      (with "import-type-error" (type $"#type16 error"))
      (with "import-type-completions" (type 36))
      (with "import-type-error0" (type $"#type16 error"))
    )
  )
  (export $wharf:plugin/completion@0.1.5 (;17;) "wharf:plugin/completion@0.1.5" (instance $wharf:plugin/completion@0.1.5-shim-instance))
  (@producers
    (processed-by "wit-component" "0.263.0")
  )
)
