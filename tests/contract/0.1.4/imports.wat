(component
  (type $ty-wharf:plugin/caller@0.1.4 (;0;)
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
  (import "wharf:plugin/caller@0.1.4" (instance $wharf:plugin/caller@0.1.4 (;0;) (type $ty-wharf:plugin/caller@0.1.4)))
  (type $ty-wharf:plugin/log@0.1.4 (;1;)
    (instance
      (type (;0;) (func (param "level" string) (param "message" string)))
      (export (;0;) "write" (func (type 0)))
    )
  )
  (import "wharf:plugin/log@0.1.4" (instance $wharf:plugin/log@0.1.4 (;1;) (type $ty-wharf:plugin/log@0.1.4)))
  (type $ty-wharf:plugin/types@0.1.4 (;2;)
    (instance
      (type (;0;) (record (field "code" string) (field "message" string) (field "retryable" bool)))
      (export (;1;) "error" (type (eq 0)))
    )
  )
  (import "wharf:plugin/types@0.1.4" (instance $wharf:plugin/types@0.1.4 (;2;) (type $ty-wharf:plugin/types@0.1.4)))
  (alias export $wharf:plugin/types@0.1.4 "error" (type $error (;3;)))
  (type $ty-wharf:plugin/state@0.1.4 (;4;)
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
  (import "wharf:plugin/state@0.1.4" (instance $wharf:plugin/state@0.1.4 (;3;) (type $ty-wharf:plugin/state@0.1.4)))
  (alias export $wharf:plugin/types@0.1.4 "error" (type $"#type5 error" (@name "error") (;5;)))
  (type $ty-wharf:plugin/events@0.1.4 (;6;)
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
    )
  )
  (import "wharf:plugin/events@0.1.4" (instance $wharf:plugin/events@0.1.4 (;4;) (type $ty-wharf:plugin/events@0.1.4)))
  (type $ty-wharf:plugin/settings@0.1.4 (;7;)
    (instance
      (type (;0;) (func (result string)))
      (export (;0;) "get" (func (type 0)))
    )
  )
  (import "wharf:plugin/settings@0.1.4" (instance $wharf:plugin/settings@0.1.4 (;5;) (type $ty-wharf:plugin/settings@0.1.4)))
  (alias export $wharf:plugin/types@0.1.4 "error" (type $"#type8 error" (@name "error") (;8;)))
  (type $ty-wharf:plugin/process@0.1.4 (;9;)
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
  (import "wharf:plugin/process@0.1.4" (instance $wharf:plugin/process@0.1.4 (;6;) (type $ty-wharf:plugin/process@0.1.4)))
  (alias export $wharf:plugin/types@0.1.4 "error" (type $"#type10 error" (@name "error") (;10;)))
  (type $ty-wharf:plugin/workspace@0.1.4 (;11;)
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
  (import "wharf:plugin/workspace@0.1.4" (instance $wharf:plugin/workspace@0.1.4 (;7;) (type $ty-wharf:plugin/workspace@0.1.4)))
  (alias export $wharf:plugin/types@0.1.4 "error" (type $"#type12 error" (@name "error") (;12;)))
  (type $ty-wharf:plugin/terminal@0.1.4 (;13;)
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
  (import "wharf:plugin/terminal@0.1.4" (instance $wharf:plugin/terminal@0.1.4 (;8;) (type $ty-wharf:plugin/terminal@0.1.4)))
  (alias export $wharf:plugin/types@0.1.4 "error" (type $"#type14 error" (@name "error") (;14;)))
  (type $ty-wharf:plugin/webview@0.1.4 (;15;)
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
  (import "wharf:plugin/webview@0.1.4" (instance $wharf:plugin/webview@0.1.4 (;9;) (type $ty-wharf:plugin/webview@0.1.4)))
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
    (type (;26;) (func))
    (import "cm32p2|wharf:plugin/caller@0.1" "session" (func (;0;) (type 0)))
    (import "cm32p2|wharf:plugin/caller@0.1" "assistant" (func (;1;) (type 0)))
    (import "cm32p2|wharf:plugin/caller@0.1" "thread" (func (;2;) (type 0)))
    (import "cm32p2|wharf:plugin/caller@0.1" "request-meta" (func (;3;) (type 0)))
    (import "cm32p2|wharf:plugin/caller@0.1" "remaining" (func (;4;) (type 1)))
    (import "cm32p2|wharf:plugin/log@0.1" "write" (func (;5;) (type 2)))
    (import "cm32p2|wharf:plugin/state@0.1" "[static]bucket.open" (func (;6;) (type 3)))
    (import "cm32p2|wharf:plugin/state@0.1" "[method]bucket.get-many" (func (;7;) (type 2)))
    (import "cm32p2|wharf:plugin/state@0.1" "[method]bucket.apply" (func (;8;) (type 2)))
    (import "cm32p2|wharf:plugin/state@0.1" "[method]bucket.scan" (func (;9;) (type 4)))
    (import "cm32p2|wharf:plugin/state@0.1" "[method]bucket.usage" (func (;10;) (type 5)))
    (import "cm32p2|wharf:plugin/state@0.1" "[method]bucket.expired-at" (func (;11;) (type 5)))
    (import "cm32p2|wharf:plugin/state@0.1" "bucket_drop" (func (;12;) (type 0)))
    (import "cm32p2|wharf:plugin/events@0.1" "progress" (func (;13;) (type 6)))
    (import "cm32p2|wharf:plugin/events@0.1" "message" (func (;14;) (type 3)))
    (import "cm32p2|wharf:plugin/events@0.1" "open-stream" (func (;15;) (type 7)))
    (import "cm32p2|wharf:plugin/events@0.1" "status" (func (;16;) (type 3)))
    (import "cm32p2|wharf:plugin/events@0.1" "say" (func (;17;) (type 3)))
    (import "cm32p2|wharf:plugin/events@0.1" "advance" (func (;18;) (type 8)))
    (import "cm32p2|wharf:plugin/events@0.1" "complete" (func (;19;) (type 9)))
    (import "cm32p2|wharf:plugin/settings@0.1" "get" (func (;20;) (type 0)))
    (import "cm32p2|wharf:plugin/process@0.1" "status" (func (;21;) (type 0)))
    (import "cm32p2|wharf:plugin/process@0.1" "spawn" (func (;22;) (type 10)))
    (import "cm32p2|wharf:plugin/process@0.1" "spawn-shell" (func (;23;) (type 11)))
    (import "cm32p2|wharf:plugin/process@0.1" "list" (func (;24;) (type 0)))
    (import "cm32p2|wharf:plugin/process@0.1" "poll" (func (;25;) (type 3)))
    (import "cm32p2|wharf:plugin/process@0.1" "wait" (func (;26;) (type 12)))
    (import "cm32p2|wharf:plugin/process@0.1" "read" (func (;27;) (type 13)))
    (import "cm32p2|wharf:plugin/process@0.1" "head" (func (;28;) (type 14)))
    (import "cm32p2|wharf:plugin/process@0.1" "tail" (func (;29;) (type 14)))
    (import "cm32p2|wharf:plugin/process@0.1" "write" (func (;30;) (type 15)))
    (import "cm32p2|wharf:plugin/process@0.1" "close-input" (func (;31;) (type 9)))
    (import "cm32p2|wharf:plugin/process@0.1" "signal" (func (;32;) (type 3)))
    (import "cm32p2|wharf:plugin/process@0.1" "stop" (func (;33;) (type 16)))
    (import "cm32p2|wharf:plugin/workspace@0.1" "files" (func (;34;) (type 0)))
    (import "cm32p2|wharf:plugin/workspace@0.1" "create" (func (;35;) (type 0)))
    (import "cm32p2|wharf:plugin/workspace@0.1" "exchange" (func (;36;) (type 0)))
    (import "cm32p2|wharf:plugin/workspace@0.1" "measure" (func (;37;) (type 0)))
    (import "cm32p2|wharf:plugin/terminal@0.1" "status" (func (;38;) (type 0)))
    (import "cm32p2|wharf:plugin/terminal@0.1" "start" (func (;39;) (type 17)))
    (import "cm32p2|wharf:plugin/terminal@0.1" "start-shell" (func (;40;) (type 18)))
    (import "cm32p2|wharf:plugin/terminal@0.1" "list" (func (;41;) (type 0)))
    (import "cm32p2|wharf:plugin/terminal@0.1" "get" (func (;42;) (type 9)))
    (import "cm32p2|wharf:plugin/terminal@0.1" "send" (func (;43;) (type 5)))
    (import "cm32p2|wharf:plugin/terminal@0.1" "follow" (func (;44;) (type 19)))
    (import "cm32p2|wharf:plugin/terminal@0.1" "cancel" (func (;45;) (type 16)))
    (import "cm32p2|wharf:plugin/terminal@0.1" "press" (func (;46;) (type 3)))
    (import "cm32p2|wharf:plugin/terminal@0.1" "screen" (func (;47;) (type 2)))
    (import "cm32p2|wharf:plugin/terminal@0.1" "read" (func (;48;) (type 20)))
    (import "cm32p2|wharf:plugin/terminal@0.1" "resize" (func (;49;) (type 3)))
    (import "cm32p2|wharf:plugin/terminal@0.1" "close" (func (;50;) (type 16)))
    (import "cm32p2|wharf:plugin/webview@0.1" "status" (func (;51;) (type 0)))
    (import "cm32p2|wharf:plugin/webview@0.1" "open" (func (;52;) (type 4)))
    (import "cm32p2|wharf:plugin/webview@0.1" "list" (func (;53;) (type 0)))
    (import "cm32p2|wharf:plugin/webview@0.1" "get" (func (;54;) (type 9)))
    (import "cm32p2|wharf:plugin/webview@0.1" "close" (func (;55;) (type 9)))
    (import "cm32p2|wharf:plugin/webview@0.1" "execute-script" (func (;56;) (type 21)))
    (import "cm32p2|wharf:plugin/webview@0.1" "perform" (func (;57;) (type 22)))
    (import "cm32p2|wharf:plugin/webview@0.1" "poll" (func (;58;) (type 9)))
    (import "cm32p2|wharf:plugin/webview@0.1" "wait" (func (;59;) (type 16)))
    (import "cm32p2|wharf:plugin/webview@0.1" "acknowledge" (func (;60;) (type 9)))
    (import "cm32p2|wharf:plugin/webview@0.1" "cancel" (func (;61;) (type 9)))
    (import "cm32p2|wharf:plugin/webview@0.1" "read-result" (func (;62;) (type 23)))
    (import "cm32p2|wharf:plugin/webview@0.1" "answer-dialog" (func (;63;) (type 14)))
    (import "cm32p2|wharf:plugin/webview@0.1" "entries" (func (;64;) (type 13)))
    (memory (;0;) 0)
    (export "cm32p2|wharf:plugin/tools@0.1|list-tools" (func 65))
    (export "cm32p2|wharf:plugin/tools@0.1|list-tools_post" (func 66))
    (export "cm32p2|wharf:plugin/tools@0.1|call-tool" (func 67))
    (export "cm32p2|wharf:plugin/tools@0.1|call-tool_post" (func 68))
    (export "cm32p2_memory" (memory 0))
    (export "cm32p2_realloc" (func 69))
    (export "cm32p2_initialize" (func 70))
    (func (;65;) (type 24) (result i32)
      unreachable
    )
    (func (;66;) (type 0) (param i32))
    (func (;67;) (type 25) (param i32 i32 i32 i32) (result i32)
      unreachable
    )
    (func (;68;) (type 0) (param i32))
    (func (;69;) (type 25) (param i32 i32 i32 i32) (result i32)
      unreachable
    )
    (func (;70;) (type 26))
    (@producers
      (processed-by "wit-component" "0.254.2")
    )
  )
  (core module $wit-component-shim-module (;1;)
    (type (;0;) (func (param i32)))
    (type (;1;) (func (param i32 i32 i32 i32)))
    (type (;2;) (func (param i32 i32 i32 i32 i32)))
    (type (;3;) (func (param i32 i32 i32 i32)))
    (type (;4;) (func (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (type (;5;) (func (param i32 i32)))
    (type (;6;) (func (param f64 i32 f64 i32 i32 i32 i32)))
    (type (;7;) (func (param i32 i32 i32 i32 i32 i32)))
    (type (;8;) (func (param i32 i32 i32 i32 i32 f64 i32)))
    (type (;9;) (func (param i32 i32 i32)))
    (type (;10;) (func (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i64 i32 i32 i32 i32)))
    (type (;11;) (func (param i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i64 i32 i32 i32 i32)))
    (type (;12;) (func (param i32 i32 i32 i32 i32)))
    (type (;13;) (func (param i32 i32 i32 i32 i32 i64 i32 i32 i32 i64 i32 i32 i32 i32 i64 i64 i32)))
    (type (;14;) (func (param i32 i32 i32 i32 i64 i32 i32)))
    (type (;15;) (func (param i32 i32 i32 i32 i32 i32 i32)))
    (type (;16;) (func (param i32 i32 i32 i32 i64 i32)))
    (type (;17;) (func (param i32 i32 i64 i32)))
    (type (;18;) (func (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
    (type (;19;) (func (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
    (type (;20;) (func (param i32 i32)))
    (type (;21;) (func (param i32 i32 i64 i64 i32 i64 i32)))
    (type (;22;) (func (param i32 i32 i32 i32)))
    (type (;23;) (func (param i32 i32 i32 i32 i64 i32 i64 i32)))
    (type (;24;) (func (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (type (;25;) (func (param i32 i32 i32 i32 i32 i32 i64 i32 i32 i32 i32 i32)))
    (type (;26;) (func (param i32 i32 i32 i32 i32 i32 i64 i32)))
    (type (;27;) (func (param i32 i32 i64 i32 i32)))
    (type (;28;) (func (param i32 i32 i32 i32 i32 i32 i32)))
    (table (;0;) 63 63 funcref)
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
    (func (;6;) (type 3) (param i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      i32.const 6
      call_indirect (type 3)
    )
    (func (;7;) (type 3) (param i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      i32.const 7
      call_indirect (type 3)
    )
    (func (;8;) (type 4) (param i32 i32 i32 i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      local.get 7
      i32.const 8
      call_indirect (type 4)
    )
    (func (;9;) (type 5) (param i32 i32)
      local.get 0
      local.get 1
      i32.const 9
      call_indirect (type 5)
    )
    (func (;10;) (type 5) (param i32 i32)
      local.get 0
      local.get 1
      i32.const 10
      call_indirect (type 5)
    )
    (func (;11;) (type 6) (param f64 i32 f64 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      i32.const 11
      call_indirect (type 6)
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
    (func (;13;) (type 7) (param i32 i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      i32.const 13
      call_indirect (type 7)
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
    (func (;16;) (type 8) (param i32 i32 i32 i32 i32 f64 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      i32.const 16
      call_indirect (type 8)
    )
    (func (;17;) (type 9) (param i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      i32.const 17
      call_indirect (type 9)
    )
    (func (;18;) (type 0) (param i32)
      local.get 0
      i32.const 18
      call_indirect (type 0)
    )
    (func (;19;) (type 0) (param i32)
      local.get 0
      i32.const 19
      call_indirect (type 0)
    )
    (func (;20;) (type 10) (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i64 i32 i32 i32 i32)
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
      i32.const 20
      call_indirect (type 10)
    )
    (func (;21;) (type 11) (param i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i64 i32 i32 i32 i32)
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
      i32.const 21
      call_indirect (type 11)
    )
    (func (;22;) (type 0) (param i32)
      local.get 0
      i32.const 22
      call_indirect (type 0)
    )
    (func (;23;) (type 12) (param i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      i32.const 23
      call_indirect (type 12)
    )
    (func (;24;) (type 13) (param i32 i32 i32 i32 i32 i64 i32 i32 i32 i64 i32 i32 i32 i32 i64 i64 i32)
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
      i32.const 24
      call_indirect (type 13)
    )
    (func (;25;) (type 14) (param i32 i32 i32 i32 i64 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      i32.const 25
      call_indirect (type 14)
    )
    (func (;26;) (type 15) (param i32 i32 i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      i32.const 26
      call_indirect (type 15)
    )
    (func (;27;) (type 15) (param i32 i32 i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      i32.const 27
      call_indirect (type 15)
    )
    (func (;28;) (type 16) (param i32 i32 i32 i32 i64 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      i32.const 28
      call_indirect (type 16)
    )
    (func (;29;) (type 9) (param i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      i32.const 29
      call_indirect (type 9)
    )
    (func (;30;) (type 2) (param i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      i32.const 30
      call_indirect (type 2)
    )
    (func (;31;) (type 17) (param i32 i32 i64 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      i32.const 31
      call_indirect (type 17)
    )
    (func (;32;) (type 0) (param i32)
      local.get 0
      i32.const 32
      call_indirect (type 0)
    )
    (func (;33;) (type 0) (param i32)
      local.get 0
      i32.const 33
      call_indirect (type 0)
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
    (func (;37;) (type 18) (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)
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
      i32.const 37
      call_indirect (type 18)
    )
    (func (;38;) (type 19) (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)
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
      i32.const 38
      call_indirect (type 19)
    )
    (func (;39;) (type 0) (param i32)
      local.get 0
      i32.const 39
      call_indirect (type 0)
    )
    (func (;40;) (type 9) (param i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      i32.const 40
      call_indirect (type 9)
    )
    (func (;41;) (type 20) (param i32 i32)
      local.get 0
      local.get 1
      i32.const 41
      call_indirect (type 20)
    )
    (func (;42;) (type 21) (param i32 i32 i64 i64 i32 i64 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      i32.const 42
      call_indirect (type 21)
    )
    (func (;43;) (type 17) (param i32 i32 i64 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      i32.const 43
      call_indirect (type 17)
    )
    (func (;44;) (type 2) (param i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      i32.const 44
      call_indirect (type 2)
    )
    (func (;45;) (type 22) (param i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      i32.const 45
      call_indirect (type 22)
    )
    (func (;46;) (type 23) (param i32 i32 i32 i32 i64 i32 i64 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      local.get 7
      i32.const 46
      call_indirect (type 23)
    )
    (func (;47;) (type 12) (param i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      i32.const 47
      call_indirect (type 12)
    )
    (func (;48;) (type 17) (param i32 i32 i64 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      i32.const 48
      call_indirect (type 17)
    )
    (func (;49;) (type 0) (param i32)
      local.get 0
      i32.const 49
      call_indirect (type 0)
    )
    (func (;50;) (type 24) (param i32 i32 i32 i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      local.get 7
      i32.const 50
      call_indirect (type 24)
    )
    (func (;51;) (type 0) (param i32)
      local.get 0
      i32.const 51
      call_indirect (type 0)
    )
    (func (;52;) (type 9) (param i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      i32.const 52
      call_indirect (type 9)
    )
    (func (;53;) (type 9) (param i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      i32.const 53
      call_indirect (type 9)
    )
    (func (;54;) (type 25) (param i32 i32 i32 i32 i32 i32 i64 i32 i32 i32 i32 i32)
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
      i32.const 54
      call_indirect (type 25)
    )
    (func (;55;) (type 26) (param i32 i32 i32 i32 i32 i32 i64 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      local.get 7
      i32.const 55
      call_indirect (type 26)
    )
    (func (;56;) (type 9) (param i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      i32.const 56
      call_indirect (type 9)
    )
    (func (;57;) (type 17) (param i32 i32 i64 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      i32.const 57
      call_indirect (type 17)
    )
    (func (;58;) (type 9) (param i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      i32.const 58
      call_indirect (type 9)
    )
    (func (;59;) (type 9) (param i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      i32.const 59
      call_indirect (type 9)
    )
    (func (;60;) (type 27) (param i32 i32 i64 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      i32.const 60
      call_indirect (type 27)
    )
    (func (;61;) (type 28) (param i32 i32 i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      i32.const 61
      call_indirect (type 28)
    )
    (func (;62;) (type 14) (param i32 i32 i32 i32 i64 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      i32.const 62
      call_indirect (type 14)
    )
    (@producers
      (processed-by "wit-component" "0.254.2")
    )
  )
  (core module $wit-component-fixup (;2;)
    (type (;0;) (func (param i32)))
    (type (;1;) (func (param i32 i32 i32 i32)))
    (type (;2;) (func (param i32 i32 i32 i32 i32)))
    (type (;3;) (func (param i32 i32 i32 i32)))
    (type (;4;) (func (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (type (;5;) (func (param i32 i32)))
    (type (;6;) (func (param f64 i32 f64 i32 i32 i32 i32)))
    (type (;7;) (func (param i32 i32 i32 i32 i32 i32)))
    (type (;8;) (func (param i32 i32 i32 i32 i32 f64 i32)))
    (type (;9;) (func (param i32 i32 i32)))
    (type (;10;) (func (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i64 i32 i32 i32 i32)))
    (type (;11;) (func (param i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i64 i32 i32 i32 i32)))
    (type (;12;) (func (param i32 i32 i32 i32 i32)))
    (type (;13;) (func (param i32 i32 i32 i32 i32 i64 i32 i32 i32 i64 i32 i32 i32 i32 i64 i64 i32)))
    (type (;14;) (func (param i32 i32 i32 i32 i64 i32 i32)))
    (type (;15;) (func (param i32 i32 i32 i32 i32 i32 i32)))
    (type (;16;) (func (param i32 i32 i32 i32 i64 i32)))
    (type (;17;) (func (param i32 i32 i64 i32)))
    (type (;18;) (func (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
    (type (;19;) (func (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32)))
    (type (;20;) (func (param i32 i32)))
    (type (;21;) (func (param i32 i32 i64 i64 i32 i64 i32)))
    (type (;22;) (func (param i32 i32 i32 i32)))
    (type (;23;) (func (param i32 i32 i32 i32 i64 i32 i64 i32)))
    (type (;24;) (func (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (type (;25;) (func (param i32 i32 i32 i32 i32 i32 i64 i32 i32 i32 i32 i32)))
    (type (;26;) (func (param i32 i32 i32 i32 i32 i32 i64 i32)))
    (type (;27;) (func (param i32 i32 i64 i32 i32)))
    (type (;28;) (func (param i32 i32 i32 i32 i32 i32 i32)))
    (import "" "0" (func (;0;) (type 0)))
    (import "" "1" (func (;1;) (type 0)))
    (import "" "2" (func (;2;) (type 0)))
    (import "" "3" (func (;3;) (type 0)))
    (import "" "4" (func (;4;) (type 1)))
    (import "" "5" (func (;5;) (type 2)))
    (import "" "6" (func (;6;) (type 3)))
    (import "" "7" (func (;7;) (type 3)))
    (import "" "8" (func (;8;) (type 4)))
    (import "" "9" (func (;9;) (type 5)))
    (import "" "10" (func (;10;) (type 5)))
    (import "" "11" (func (;11;) (type 6)))
    (import "" "12" (func (;12;) (type 2)))
    (import "" "13" (func (;13;) (type 7)))
    (import "" "14" (func (;14;) (type 2)))
    (import "" "15" (func (;15;) (type 2)))
    (import "" "16" (func (;16;) (type 8)))
    (import "" "17" (func (;17;) (type 9)))
    (import "" "18" (func (;18;) (type 0)))
    (import "" "19" (func (;19;) (type 0)))
    (import "" "20" (func (;20;) (type 10)))
    (import "" "21" (func (;21;) (type 11)))
    (import "" "22" (func (;22;) (type 0)))
    (import "" "23" (func (;23;) (type 12)))
    (import "" "24" (func (;24;) (type 13)))
    (import "" "25" (func (;25;) (type 14)))
    (import "" "26" (func (;26;) (type 15)))
    (import "" "27" (func (;27;) (type 15)))
    (import "" "28" (func (;28;) (type 16)))
    (import "" "29" (func (;29;) (type 9)))
    (import "" "30" (func (;30;) (type 2)))
    (import "" "31" (func (;31;) (type 17)))
    (import "" "32" (func (;32;) (type 0)))
    (import "" "33" (func (;33;) (type 0)))
    (import "" "34" (func (;34;) (type 0)))
    (import "" "35" (func (;35;) (type 0)))
    (import "" "36" (func (;36;) (type 0)))
    (import "" "37" (func (;37;) (type 18)))
    (import "" "38" (func (;38;) (type 19)))
    (import "" "39" (func (;39;) (type 0)))
    (import "" "40" (func (;40;) (type 9)))
    (import "" "41" (func (;41;) (type 20)))
    (import "" "42" (func (;42;) (type 21)))
    (import "" "43" (func (;43;) (type 17)))
    (import "" "44" (func (;44;) (type 2)))
    (import "" "45" (func (;45;) (type 22)))
    (import "" "46" (func (;46;) (type 23)))
    (import "" "47" (func (;47;) (type 12)))
    (import "" "48" (func (;48;) (type 17)))
    (import "" "49" (func (;49;) (type 0)))
    (import "" "50" (func (;50;) (type 24)))
    (import "" "51" (func (;51;) (type 0)))
    (import "" "52" (func (;52;) (type 9)))
    (import "" "53" (func (;53;) (type 9)))
    (import "" "54" (func (;54;) (type 25)))
    (import "" "55" (func (;55;) (type 26)))
    (import "" "56" (func (;56;) (type 9)))
    (import "" "57" (func (;57;) (type 17)))
    (import "" "58" (func (;58;) (type 9)))
    (import "" "59" (func (;59;) (type 9)))
    (import "" "60" (func (;60;) (type 27)))
    (import "" "61" (func (;61;) (type 28)))
    (import "" "62" (func (;62;) (type 14)))
    (import "" "$imports" (table (;0;) 63 63 funcref))
    (elem (;0;) (i32.const 0) func 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62)
    (@producers
      (processed-by "wit-component" "0.254.2")
    )
  )
  (core instance $wit-component-shim-instance (;0;) (instantiate $wit-component-shim-module))
  (alias export $wharf:plugin/types@0.1.4 "error" (type $"#type16 error" (@name "error") (;16;)))
  (type (;17;) (option string))
  (type (;18;) (record (field "name" string) (field "description" string) (field "input-schema" string) (field "output-schema" 17) (field "meta" 17)))
  (type (;19;) (list u8))
  (type (;20;) (record (field "mime-type" string) (field "data" 19) (field "meta" 17)))
  (type (;21;) (list 20))
  (type (;22;) (record (field "content" 21) (field "structured" 17) (field "is-error" bool) (field "meta" 17)))
  (alias core export $wit-component-shim-instance "0" (core func $indirect-cm32p2|wharf:plugin/caller@0.1-session (;0;)))
  (alias core export $wit-component-shim-instance "1" (core func $indirect-cm32p2|wharf:plugin/caller@0.1-assistant (;1;)))
  (alias core export $wit-component-shim-instance "2" (core func $indirect-cm32p2|wharf:plugin/caller@0.1-thread (;2;)))
  (alias core export $wit-component-shim-instance "3" (core func $indirect-cm32p2|wharf:plugin/caller@0.1-request-meta (;3;)))
  (alias export $wharf:plugin/caller@0.1.4 "remaining" (func $remaining (;0;)))
  (core func $remaining (;4;) (canon lower (func $remaining)))
  (core instance $cm32p2|wharf:plugin/caller@0.1 (;1;)
    (export "session" (func $indirect-cm32p2|wharf:plugin/caller@0.1-session))
    (export "assistant" (func $indirect-cm32p2|wharf:plugin/caller@0.1-assistant))
    (export "thread" (func $indirect-cm32p2|wharf:plugin/caller@0.1-thread))
    (export "request-meta" (func $indirect-cm32p2|wharf:plugin/caller@0.1-request-meta))
    (export "remaining" (func $remaining))
  )
  (alias core export $wit-component-shim-instance "4" (core func $indirect-cm32p2|wharf:plugin/log@0.1-write (;5;)))
  (core instance $cm32p2|wharf:plugin/log@0.1 (;2;)
    (export "write" (func $indirect-cm32p2|wharf:plugin/log@0.1-write))
  )
  (alias core export $wit-component-shim-instance "5" (core func $"indirect-cm32p2|wharf:plugin/state@0.1-[static]bucket.open" (;6;)))
  (alias core export $wit-component-shim-instance "6" (core func $"indirect-cm32p2|wharf:plugin/state@0.1-[method]bucket.get-many" (;7;)))
  (alias core export $wit-component-shim-instance "7" (core func $"indirect-cm32p2|wharf:plugin/state@0.1-[method]bucket.apply" (;8;)))
  (alias core export $wit-component-shim-instance "8" (core func $"indirect-cm32p2|wharf:plugin/state@0.1-[method]bucket.scan" (;9;)))
  (alias core export $wit-component-shim-instance "9" (core func $"indirect-cm32p2|wharf:plugin/state@0.1-[method]bucket.usage" (;10;)))
  (alias core export $wit-component-shim-instance "10" (core func $"indirect-cm32p2|wharf:plugin/state@0.1-[method]bucket.expired-at" (;11;)))
  (alias export $wharf:plugin/state@0.1.4 "bucket" (type $bucket (;23;)))
  (core func $resource.drop (;12;) (canon resource.drop $bucket))
  (core instance $cm32p2|wharf:plugin/state@0.1 (;3;)
    (export "[static]bucket.open" (func $"indirect-cm32p2|wharf:plugin/state@0.1-[static]bucket.open"))
    (export "[method]bucket.get-many" (func $"indirect-cm32p2|wharf:plugin/state@0.1-[method]bucket.get-many"))
    (export "[method]bucket.apply" (func $"indirect-cm32p2|wharf:plugin/state@0.1-[method]bucket.apply"))
    (export "[method]bucket.scan" (func $"indirect-cm32p2|wharf:plugin/state@0.1-[method]bucket.scan"))
    (export "[method]bucket.usage" (func $"indirect-cm32p2|wharf:plugin/state@0.1-[method]bucket.usage"))
    (export "[method]bucket.expired-at" (func $"indirect-cm32p2|wharf:plugin/state@0.1-[method]bucket.expired-at"))
    (export "bucket_drop" (func $resource.drop))
  )
  (alias core export $wit-component-shim-instance "11" (core func $indirect-cm32p2|wharf:plugin/events@0.1-progress (;13;)))
  (alias core export $wit-component-shim-instance "12" (core func $indirect-cm32p2|wharf:plugin/events@0.1-message (;14;)))
  (alias core export $wit-component-shim-instance "13" (core func $indirect-cm32p2|wharf:plugin/events@0.1-open-stream (;15;)))
  (alias core export $wit-component-shim-instance "14" (core func $indirect-cm32p2|wharf:plugin/events@0.1-status (;16;)))
  (alias core export $wit-component-shim-instance "15" (core func $indirect-cm32p2|wharf:plugin/events@0.1-say (;17;)))
  (alias core export $wit-component-shim-instance "16" (core func $indirect-cm32p2|wharf:plugin/events@0.1-advance (;18;)))
  (alias core export $wit-component-shim-instance "17" (core func $indirect-cm32p2|wharf:plugin/events@0.1-complete (;19;)))
  (core instance $cm32p2|wharf:plugin/events@0.1 (;4;)
    (export "progress" (func $indirect-cm32p2|wharf:plugin/events@0.1-progress))
    (export "message" (func $indirect-cm32p2|wharf:plugin/events@0.1-message))
    (export "open-stream" (func $indirect-cm32p2|wharf:plugin/events@0.1-open-stream))
    (export "status" (func $indirect-cm32p2|wharf:plugin/events@0.1-status))
    (export "say" (func $indirect-cm32p2|wharf:plugin/events@0.1-say))
    (export "advance" (func $indirect-cm32p2|wharf:plugin/events@0.1-advance))
    (export "complete" (func $indirect-cm32p2|wharf:plugin/events@0.1-complete))
  )
  (alias core export $wit-component-shim-instance "18" (core func $indirect-cm32p2|wharf:plugin/settings@0.1-get (;20;)))
  (core instance $cm32p2|wharf:plugin/settings@0.1 (;5;)
    (export "get" (func $indirect-cm32p2|wharf:plugin/settings@0.1-get))
  )
  (alias core export $wit-component-shim-instance "19" (core func $indirect-cm32p2|wharf:plugin/process@0.1-status (;21;)))
  (alias core export $wit-component-shim-instance "20" (core func $indirect-cm32p2|wharf:plugin/process@0.1-spawn (;22;)))
  (alias core export $wit-component-shim-instance "21" (core func $indirect-cm32p2|wharf:plugin/process@0.1-spawn-shell (;23;)))
  (alias core export $wit-component-shim-instance "22" (core func $indirect-cm32p2|wharf:plugin/process@0.1-list (;24;)))
  (alias core export $wit-component-shim-instance "23" (core func $indirect-cm32p2|wharf:plugin/process@0.1-poll (;25;)))
  (alias core export $wit-component-shim-instance "24" (core func $indirect-cm32p2|wharf:plugin/process@0.1-wait (;26;)))
  (alias core export $wit-component-shim-instance "25" (core func $indirect-cm32p2|wharf:plugin/process@0.1-read (;27;)))
  (alias core export $wit-component-shim-instance "26" (core func $indirect-cm32p2|wharf:plugin/process@0.1-head (;28;)))
  (alias core export $wit-component-shim-instance "27" (core func $indirect-cm32p2|wharf:plugin/process@0.1-tail (;29;)))
  (alias core export $wit-component-shim-instance "28" (core func $indirect-cm32p2|wharf:plugin/process@0.1-write (;30;)))
  (alias core export $wit-component-shim-instance "29" (core func $indirect-cm32p2|wharf:plugin/process@0.1-close-input (;31;)))
  (alias core export $wit-component-shim-instance "30" (core func $indirect-cm32p2|wharf:plugin/process@0.1-signal (;32;)))
  (alias core export $wit-component-shim-instance "31" (core func $indirect-cm32p2|wharf:plugin/process@0.1-stop (;33;)))
  (core instance $cm32p2|wharf:plugin/process@0.1 (;6;)
    (export "status" (func $indirect-cm32p2|wharf:plugin/process@0.1-status))
    (export "spawn" (func $indirect-cm32p2|wharf:plugin/process@0.1-spawn))
    (export "spawn-shell" (func $indirect-cm32p2|wharf:plugin/process@0.1-spawn-shell))
    (export "list" (func $indirect-cm32p2|wharf:plugin/process@0.1-list))
    (export "poll" (func $indirect-cm32p2|wharf:plugin/process@0.1-poll))
    (export "wait" (func $indirect-cm32p2|wharf:plugin/process@0.1-wait))
    (export "read" (func $indirect-cm32p2|wharf:plugin/process@0.1-read))
    (export "head" (func $indirect-cm32p2|wharf:plugin/process@0.1-head))
    (export "tail" (func $indirect-cm32p2|wharf:plugin/process@0.1-tail))
    (export "write" (func $indirect-cm32p2|wharf:plugin/process@0.1-write))
    (export "close-input" (func $indirect-cm32p2|wharf:plugin/process@0.1-close-input))
    (export "signal" (func $indirect-cm32p2|wharf:plugin/process@0.1-signal))
    (export "stop" (func $indirect-cm32p2|wharf:plugin/process@0.1-stop))
  )
  (alias core export $wit-component-shim-instance "32" (core func $indirect-cm32p2|wharf:plugin/workspace@0.1-files (;34;)))
  (alias core export $wit-component-shim-instance "33" (core func $indirect-cm32p2|wharf:plugin/workspace@0.1-create (;35;)))
  (alias core export $wit-component-shim-instance "34" (core func $indirect-cm32p2|wharf:plugin/workspace@0.1-exchange (;36;)))
  (alias core export $wit-component-shim-instance "35" (core func $indirect-cm32p2|wharf:plugin/workspace@0.1-measure (;37;)))
  (core instance $cm32p2|wharf:plugin/workspace@0.1 (;7;)
    (export "files" (func $indirect-cm32p2|wharf:plugin/workspace@0.1-files))
    (export "create" (func $indirect-cm32p2|wharf:plugin/workspace@0.1-create))
    (export "exchange" (func $indirect-cm32p2|wharf:plugin/workspace@0.1-exchange))
    (export "measure" (func $indirect-cm32p2|wharf:plugin/workspace@0.1-measure))
  )
  (alias core export $wit-component-shim-instance "36" (core func $indirect-cm32p2|wharf:plugin/terminal@0.1-status (;38;)))
  (alias core export $wit-component-shim-instance "37" (core func $indirect-cm32p2|wharf:plugin/terminal@0.1-start (;39;)))
  (alias core export $wit-component-shim-instance "38" (core func $indirect-cm32p2|wharf:plugin/terminal@0.1-start-shell (;40;)))
  (alias core export $wit-component-shim-instance "39" (core func $indirect-cm32p2|wharf:plugin/terminal@0.1-list (;41;)))
  (alias core export $wit-component-shim-instance "40" (core func $indirect-cm32p2|wharf:plugin/terminal@0.1-get (;42;)))
  (alias core export $wit-component-shim-instance "41" (core func $indirect-cm32p2|wharf:plugin/terminal@0.1-send (;43;)))
  (alias core export $wit-component-shim-instance "42" (core func $indirect-cm32p2|wharf:plugin/terminal@0.1-follow (;44;)))
  (alias core export $wit-component-shim-instance "43" (core func $indirect-cm32p2|wharf:plugin/terminal@0.1-cancel (;45;)))
  (alias core export $wit-component-shim-instance "44" (core func $indirect-cm32p2|wharf:plugin/terminal@0.1-press (;46;)))
  (alias core export $wit-component-shim-instance "45" (core func $indirect-cm32p2|wharf:plugin/terminal@0.1-screen (;47;)))
  (alias core export $wit-component-shim-instance "46" (core func $indirect-cm32p2|wharf:plugin/terminal@0.1-read (;48;)))
  (alias core export $wit-component-shim-instance "47" (core func $indirect-cm32p2|wharf:plugin/terminal@0.1-resize (;49;)))
  (alias core export $wit-component-shim-instance "48" (core func $indirect-cm32p2|wharf:plugin/terminal@0.1-close (;50;)))
  (core instance $cm32p2|wharf:plugin/terminal@0.1 (;8;)
    (export "status" (func $indirect-cm32p2|wharf:plugin/terminal@0.1-status))
    (export "start" (func $indirect-cm32p2|wharf:plugin/terminal@0.1-start))
    (export "start-shell" (func $indirect-cm32p2|wharf:plugin/terminal@0.1-start-shell))
    (export "list" (func $indirect-cm32p2|wharf:plugin/terminal@0.1-list))
    (export "get" (func $indirect-cm32p2|wharf:plugin/terminal@0.1-get))
    (export "send" (func $indirect-cm32p2|wharf:plugin/terminal@0.1-send))
    (export "follow" (func $indirect-cm32p2|wharf:plugin/terminal@0.1-follow))
    (export "cancel" (func $indirect-cm32p2|wharf:plugin/terminal@0.1-cancel))
    (export "press" (func $indirect-cm32p2|wharf:plugin/terminal@0.1-press))
    (export "screen" (func $indirect-cm32p2|wharf:plugin/terminal@0.1-screen))
    (export "read" (func $indirect-cm32p2|wharf:plugin/terminal@0.1-read))
    (export "resize" (func $indirect-cm32p2|wharf:plugin/terminal@0.1-resize))
    (export "close" (func $indirect-cm32p2|wharf:plugin/terminal@0.1-close))
  )
  (alias core export $wit-component-shim-instance "49" (core func $indirect-cm32p2|wharf:plugin/webview@0.1-status (;51;)))
  (alias core export $wit-component-shim-instance "50" (core func $indirect-cm32p2|wharf:plugin/webview@0.1-open (;52;)))
  (alias core export $wit-component-shim-instance "51" (core func $indirect-cm32p2|wharf:plugin/webview@0.1-list (;53;)))
  (alias core export $wit-component-shim-instance "52" (core func $indirect-cm32p2|wharf:plugin/webview@0.1-get (;54;)))
  (alias core export $wit-component-shim-instance "53" (core func $indirect-cm32p2|wharf:plugin/webview@0.1-close (;55;)))
  (alias core export $wit-component-shim-instance "54" (core func $indirect-cm32p2|wharf:plugin/webview@0.1-execute-script (;56;)))
  (alias core export $wit-component-shim-instance "55" (core func $indirect-cm32p2|wharf:plugin/webview@0.1-perform (;57;)))
  (alias core export $wit-component-shim-instance "56" (core func $indirect-cm32p2|wharf:plugin/webview@0.1-poll (;58;)))
  (alias core export $wit-component-shim-instance "57" (core func $indirect-cm32p2|wharf:plugin/webview@0.1-wait (;59;)))
  (alias core export $wit-component-shim-instance "58" (core func $indirect-cm32p2|wharf:plugin/webview@0.1-acknowledge (;60;)))
  (alias core export $wit-component-shim-instance "59" (core func $indirect-cm32p2|wharf:plugin/webview@0.1-cancel (;61;)))
  (alias core export $wit-component-shim-instance "60" (core func $indirect-cm32p2|wharf:plugin/webview@0.1-read-result (;62;)))
  (alias core export $wit-component-shim-instance "61" (core func $indirect-cm32p2|wharf:plugin/webview@0.1-answer-dialog (;63;)))
  (alias core export $wit-component-shim-instance "62" (core func $indirect-cm32p2|wharf:plugin/webview@0.1-entries (;64;)))
  (core instance $cm32p2|wharf:plugin/webview@0.1 (;9;)
    (export "status" (func $indirect-cm32p2|wharf:plugin/webview@0.1-status))
    (export "open" (func $indirect-cm32p2|wharf:plugin/webview@0.1-open))
    (export "list" (func $indirect-cm32p2|wharf:plugin/webview@0.1-list))
    (export "get" (func $indirect-cm32p2|wharf:plugin/webview@0.1-get))
    (export "close" (func $indirect-cm32p2|wharf:plugin/webview@0.1-close))
    (export "execute-script" (func $indirect-cm32p2|wharf:plugin/webview@0.1-execute-script))
    (export "perform" (func $indirect-cm32p2|wharf:plugin/webview@0.1-perform))
    (export "poll" (func $indirect-cm32p2|wharf:plugin/webview@0.1-poll))
    (export "wait" (func $indirect-cm32p2|wharf:plugin/webview@0.1-wait))
    (export "acknowledge" (func $indirect-cm32p2|wharf:plugin/webview@0.1-acknowledge))
    (export "cancel" (func $indirect-cm32p2|wharf:plugin/webview@0.1-cancel))
    (export "read-result" (func $indirect-cm32p2|wharf:plugin/webview@0.1-read-result))
    (export "answer-dialog" (func $indirect-cm32p2|wharf:plugin/webview@0.1-answer-dialog))
    (export "entries" (func $indirect-cm32p2|wharf:plugin/webview@0.1-entries))
  )
  (core instance $main (;10;) (instantiate $main
      (with "cm32p2|wharf:plugin/caller@0.1" (instance $cm32p2|wharf:plugin/caller@0.1))
      (with "cm32p2|wharf:plugin/log@0.1" (instance $cm32p2|wharf:plugin/log@0.1))
      (with "cm32p2|wharf:plugin/state@0.1" (instance $cm32p2|wharf:plugin/state@0.1))
      (with "cm32p2|wharf:plugin/events@0.1" (instance $cm32p2|wharf:plugin/events@0.1))
      (with "cm32p2|wharf:plugin/settings@0.1" (instance $cm32p2|wharf:plugin/settings@0.1))
      (with "cm32p2|wharf:plugin/process@0.1" (instance $cm32p2|wharf:plugin/process@0.1))
      (with "cm32p2|wharf:plugin/workspace@0.1" (instance $cm32p2|wharf:plugin/workspace@0.1))
      (with "cm32p2|wharf:plugin/terminal@0.1" (instance $cm32p2|wharf:plugin/terminal@0.1))
      (with "cm32p2|wharf:plugin/webview@0.1" (instance $cm32p2|wharf:plugin/webview@0.1))
    )
  )
  (alias core export $main "cm32p2_memory" (core memory $memory (;0;)))
  (alias core export $wit-component-shim-instance "$imports" (core table $"shim table" (;0;)))
  (alias export $wharf:plugin/caller@0.1.4 "session" (func $session (;1;)))
  (alias core export $main "cm32p2_realloc" (core func $realloc (;65;)))
  (core func $"#core-func66 indirect-cm32p2|wharf:plugin/caller@0.1-session" (@name "indirect-cm32p2|wharf:plugin/caller@0.1-session") (;66;) (canon lower (func $session) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/caller@0.1.4 "assistant" (func $assistant (;2;)))
  (core func $"#core-func67 indirect-cm32p2|wharf:plugin/caller@0.1-assistant" (@name "indirect-cm32p2|wharf:plugin/caller@0.1-assistant") (;67;) (canon lower (func $assistant) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/caller@0.1.4 "thread" (func $thread (;3;)))
  (core func $"#core-func68 indirect-cm32p2|wharf:plugin/caller@0.1-thread" (@name "indirect-cm32p2|wharf:plugin/caller@0.1-thread") (;68;) (canon lower (func $thread) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/caller@0.1.4 "request-meta" (func $request-meta (;4;)))
  (core func $"#core-func69 indirect-cm32p2|wharf:plugin/caller@0.1-request-meta" (@name "indirect-cm32p2|wharf:plugin/caller@0.1-request-meta") (;69;) (canon lower (func $request-meta) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/log@0.1.4 "write" (func $write (;5;)))
  (core func $"#core-func70 indirect-cm32p2|wharf:plugin/log@0.1-write" (@name "indirect-cm32p2|wharf:plugin/log@0.1-write") (;70;) (canon lower (func $write) (memory $memory) string-encoding=utf8))
  (alias export $wharf:plugin/state@0.1.4 "[static]bucket.open" (func $"[static]bucket.open" (;6;)))
  (core func $"#core-func71 indirect-cm32p2|wharf:plugin/state@0.1-[static]bucket.open" (@name "indirect-cm32p2|wharf:plugin/state@0.1-[static]bucket.open") (;71;) (canon lower (func $"[static]bucket.open") (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/state@0.1.4 "[method]bucket.get-many" (func $"[method]bucket.get-many" (;7;)))
  (core func $"#core-func72 indirect-cm32p2|wharf:plugin/state@0.1-[method]bucket.get-many" (@name "indirect-cm32p2|wharf:plugin/state@0.1-[method]bucket.get-many") (;72;) (canon lower (func $"[method]bucket.get-many") (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/state@0.1.4 "[method]bucket.apply" (func $"[method]bucket.apply" (;8;)))
  (core func $"#core-func73 indirect-cm32p2|wharf:plugin/state@0.1-[method]bucket.apply" (@name "indirect-cm32p2|wharf:plugin/state@0.1-[method]bucket.apply") (;73;) (canon lower (func $"[method]bucket.apply") (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/state@0.1.4 "[method]bucket.scan" (func $"[method]bucket.scan" (;9;)))
  (core func $"#core-func74 indirect-cm32p2|wharf:plugin/state@0.1-[method]bucket.scan" (@name "indirect-cm32p2|wharf:plugin/state@0.1-[method]bucket.scan") (;74;) (canon lower (func $"[method]bucket.scan") (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/state@0.1.4 "[method]bucket.usage" (func $"[method]bucket.usage" (;10;)))
  (core func $"#core-func75 indirect-cm32p2|wharf:plugin/state@0.1-[method]bucket.usage" (@name "indirect-cm32p2|wharf:plugin/state@0.1-[method]bucket.usage") (;75;) (canon lower (func $"[method]bucket.usage") (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/state@0.1.4 "[method]bucket.expired-at" (func $"[method]bucket.expired-at" (;11;)))
  (core func $"#core-func76 indirect-cm32p2|wharf:plugin/state@0.1-[method]bucket.expired-at" (@name "indirect-cm32p2|wharf:plugin/state@0.1-[method]bucket.expired-at") (;76;) (canon lower (func $"[method]bucket.expired-at") (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/events@0.1.4 "progress" (func $progress (;12;)))
  (core func $"#core-func77 indirect-cm32p2|wharf:plugin/events@0.1-progress" (@name "indirect-cm32p2|wharf:plugin/events@0.1-progress") (;77;) (canon lower (func $progress) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/events@0.1.4 "message" (func $message (;13;)))
  (core func $"#core-func78 indirect-cm32p2|wharf:plugin/events@0.1-message" (@name "indirect-cm32p2|wharf:plugin/events@0.1-message") (;78;) (canon lower (func $message) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/events@0.1.4 "open-stream" (func $open-stream (;14;)))
  (core func $"#core-func79 indirect-cm32p2|wharf:plugin/events@0.1-open-stream" (@name "indirect-cm32p2|wharf:plugin/events@0.1-open-stream") (;79;) (canon lower (func $open-stream) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/events@0.1.4 "status" (func $status (;15;)))
  (core func $"#core-func80 indirect-cm32p2|wharf:plugin/events@0.1-status" (@name "indirect-cm32p2|wharf:plugin/events@0.1-status") (;80;) (canon lower (func $status) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/events@0.1.4 "say" (func $say (;16;)))
  (core func $"#core-func81 indirect-cm32p2|wharf:plugin/events@0.1-say" (@name "indirect-cm32p2|wharf:plugin/events@0.1-say") (;81;) (canon lower (func $say) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/events@0.1.4 "advance" (func $advance (;17;)))
  (core func $"#core-func82 indirect-cm32p2|wharf:plugin/events@0.1-advance" (@name "indirect-cm32p2|wharf:plugin/events@0.1-advance") (;82;) (canon lower (func $advance) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/events@0.1.4 "complete" (func $complete (;18;)))
  (core func $"#core-func83 indirect-cm32p2|wharf:plugin/events@0.1-complete" (@name "indirect-cm32p2|wharf:plugin/events@0.1-complete") (;83;) (canon lower (func $complete) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/settings@0.1.4 "get" (func $get (;19;)))
  (core func $"#core-func84 indirect-cm32p2|wharf:plugin/settings@0.1-get" (@name "indirect-cm32p2|wharf:plugin/settings@0.1-get") (;84;) (canon lower (func $get) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.4 "status" (func $"#func20 status" (@name "status") (;20;)))
  (core func $"#core-func85 indirect-cm32p2|wharf:plugin/process@0.1-status" (@name "indirect-cm32p2|wharf:plugin/process@0.1-status") (;85;) (canon lower (func $"#func20 status") (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.4 "spawn" (func $spawn (;21;)))
  (core func $"#core-func86 indirect-cm32p2|wharf:plugin/process@0.1-spawn" (@name "indirect-cm32p2|wharf:plugin/process@0.1-spawn") (;86;) (canon lower (func $spawn) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.4 "spawn-shell" (func $spawn-shell (;22;)))
  (core func $"#core-func87 indirect-cm32p2|wharf:plugin/process@0.1-spawn-shell" (@name "indirect-cm32p2|wharf:plugin/process@0.1-spawn-shell") (;87;) (canon lower (func $spawn-shell) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.4 "list" (func $list (;23;)))
  (core func $"#core-func88 indirect-cm32p2|wharf:plugin/process@0.1-list" (@name "indirect-cm32p2|wharf:plugin/process@0.1-list") (;88;) (canon lower (func $list) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.4 "poll" (func $poll (;24;)))
  (core func $"#core-func89 indirect-cm32p2|wharf:plugin/process@0.1-poll" (@name "indirect-cm32p2|wharf:plugin/process@0.1-poll") (;89;) (canon lower (func $poll) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.4 "wait" (func $wait (;25;)))
  (core func $"#core-func90 indirect-cm32p2|wharf:plugin/process@0.1-wait" (@name "indirect-cm32p2|wharf:plugin/process@0.1-wait") (;90;) (canon lower (func $wait) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.4 "read" (func $read (;26;)))
  (core func $"#core-func91 indirect-cm32p2|wharf:plugin/process@0.1-read" (@name "indirect-cm32p2|wharf:plugin/process@0.1-read") (;91;) (canon lower (func $read) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.4 "head" (func $head (;27;)))
  (core func $"#core-func92 indirect-cm32p2|wharf:plugin/process@0.1-head" (@name "indirect-cm32p2|wharf:plugin/process@0.1-head") (;92;) (canon lower (func $head) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.4 "tail" (func $tail (;28;)))
  (core func $"#core-func93 indirect-cm32p2|wharf:plugin/process@0.1-tail" (@name "indirect-cm32p2|wharf:plugin/process@0.1-tail") (;93;) (canon lower (func $tail) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.4 "write" (func $"#func29 write" (@name "write") (;29;)))
  (core func $"#core-func94 indirect-cm32p2|wharf:plugin/process@0.1-write" (@name "indirect-cm32p2|wharf:plugin/process@0.1-write") (;94;) (canon lower (func $"#func29 write") (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.4 "close-input" (func $close-input (;30;)))
  (core func $"#core-func95 indirect-cm32p2|wharf:plugin/process@0.1-close-input" (@name "indirect-cm32p2|wharf:plugin/process@0.1-close-input") (;95;) (canon lower (func $close-input) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.4 "signal" (func $signal (;31;)))
  (core func $"#core-func96 indirect-cm32p2|wharf:plugin/process@0.1-signal" (@name "indirect-cm32p2|wharf:plugin/process@0.1-signal") (;96;) (canon lower (func $signal) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/process@0.1.4 "stop" (func $stop (;32;)))
  (core func $"#core-func97 indirect-cm32p2|wharf:plugin/process@0.1-stop" (@name "indirect-cm32p2|wharf:plugin/process@0.1-stop") (;97;) (canon lower (func $stop) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/workspace@0.1.4 "files" (func $files (;33;)))
  (core func $"#core-func98 indirect-cm32p2|wharf:plugin/workspace@0.1-files" (@name "indirect-cm32p2|wharf:plugin/workspace@0.1-files") (;98;) (canon lower (func $files) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/workspace@0.1.4 "create" (func $create (;34;)))
  (core func $"#core-func99 indirect-cm32p2|wharf:plugin/workspace@0.1-create" (@name "indirect-cm32p2|wharf:plugin/workspace@0.1-create") (;99;) (canon lower (func $create) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/workspace@0.1.4 "exchange" (func $exchange (;35;)))
  (core func $"#core-func100 indirect-cm32p2|wharf:plugin/workspace@0.1-exchange" (@name "indirect-cm32p2|wharf:plugin/workspace@0.1-exchange") (;100;) (canon lower (func $exchange) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/workspace@0.1.4 "measure" (func $measure (;36;)))
  (core func $"#core-func101 indirect-cm32p2|wharf:plugin/workspace@0.1-measure" (@name "indirect-cm32p2|wharf:plugin/workspace@0.1-measure") (;101;) (canon lower (func $measure) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.4 "status" (func $"#func37 status" (@name "status") (;37;)))
  (core func $"#core-func102 indirect-cm32p2|wharf:plugin/terminal@0.1-status" (@name "indirect-cm32p2|wharf:plugin/terminal@0.1-status") (;102;) (canon lower (func $"#func37 status") (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.4 "start" (func $start (;38;)))
  (core func $"#core-func103 indirect-cm32p2|wharf:plugin/terminal@0.1-start" (@name "indirect-cm32p2|wharf:plugin/terminal@0.1-start") (;103;) (canon lower (func $start) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.4 "start-shell" (func $start-shell (;39;)))
  (core func $"#core-func104 indirect-cm32p2|wharf:plugin/terminal@0.1-start-shell" (@name "indirect-cm32p2|wharf:plugin/terminal@0.1-start-shell") (;104;) (canon lower (func $start-shell) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.4 "list" (func $"#func40 list" (@name "list") (;40;)))
  (core func $"#core-func105 indirect-cm32p2|wharf:plugin/terminal@0.1-list" (@name "indirect-cm32p2|wharf:plugin/terminal@0.1-list") (;105;) (canon lower (func $"#func40 list") (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.4 "get" (func $"#func41 get" (@name "get") (;41;)))
  (core func $"#core-func106 indirect-cm32p2|wharf:plugin/terminal@0.1-get" (@name "indirect-cm32p2|wharf:plugin/terminal@0.1-get") (;106;) (canon lower (func $"#func41 get") (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.4 "send" (func $send (;42;)))
  (core func $"#core-func107 indirect-cm32p2|wharf:plugin/terminal@0.1-send" (@name "indirect-cm32p2|wharf:plugin/terminal@0.1-send") (;107;) (canon lower (func $send) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.4 "follow" (func $follow (;43;)))
  (core func $"#core-func108 indirect-cm32p2|wharf:plugin/terminal@0.1-follow" (@name "indirect-cm32p2|wharf:plugin/terminal@0.1-follow") (;108;) (canon lower (func $follow) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.4 "cancel" (func $cancel (;44;)))
  (core func $"#core-func109 indirect-cm32p2|wharf:plugin/terminal@0.1-cancel" (@name "indirect-cm32p2|wharf:plugin/terminal@0.1-cancel") (;109;) (canon lower (func $cancel) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.4 "press" (func $press (;45;)))
  (core func $"#core-func110 indirect-cm32p2|wharf:plugin/terminal@0.1-press" (@name "indirect-cm32p2|wharf:plugin/terminal@0.1-press") (;110;) (canon lower (func $press) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.4 "screen" (func $screen (;46;)))
  (core func $"#core-func111 indirect-cm32p2|wharf:plugin/terminal@0.1-screen" (@name "indirect-cm32p2|wharf:plugin/terminal@0.1-screen") (;111;) (canon lower (func $screen) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.4 "read" (func $"#func47 read" (@name "read") (;47;)))
  (core func $"#core-func112 indirect-cm32p2|wharf:plugin/terminal@0.1-read" (@name "indirect-cm32p2|wharf:plugin/terminal@0.1-read") (;112;) (canon lower (func $"#func47 read") (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.4 "resize" (func $resize (;48;)))
  (core func $"#core-func113 indirect-cm32p2|wharf:plugin/terminal@0.1-resize" (@name "indirect-cm32p2|wharf:plugin/terminal@0.1-resize") (;113;) (canon lower (func $resize) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/terminal@0.1.4 "close" (func $close (;49;)))
  (core func $"#core-func114 indirect-cm32p2|wharf:plugin/terminal@0.1-close" (@name "indirect-cm32p2|wharf:plugin/terminal@0.1-close") (;114;) (canon lower (func $close) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.4 "status" (func $"#func50 status" (@name "status") (;50;)))
  (core func $"#core-func115 indirect-cm32p2|wharf:plugin/webview@0.1-status" (@name "indirect-cm32p2|wharf:plugin/webview@0.1-status") (;115;) (canon lower (func $"#func50 status") (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.4 "open" (func $open (;51;)))
  (core func $"#core-func116 indirect-cm32p2|wharf:plugin/webview@0.1-open" (@name "indirect-cm32p2|wharf:plugin/webview@0.1-open") (;116;) (canon lower (func $open) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.4 "list" (func $"#func52 list" (@name "list") (;52;)))
  (core func $"#core-func117 indirect-cm32p2|wharf:plugin/webview@0.1-list" (@name "indirect-cm32p2|wharf:plugin/webview@0.1-list") (;117;) (canon lower (func $"#func52 list") (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.4 "get" (func $"#func53 get" (@name "get") (;53;)))
  (core func $"#core-func118 indirect-cm32p2|wharf:plugin/webview@0.1-get" (@name "indirect-cm32p2|wharf:plugin/webview@0.1-get") (;118;) (canon lower (func $"#func53 get") (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.4 "close" (func $"#func54 close" (@name "close") (;54;)))
  (core func $"#core-func119 indirect-cm32p2|wharf:plugin/webview@0.1-close" (@name "indirect-cm32p2|wharf:plugin/webview@0.1-close") (;119;) (canon lower (func $"#func54 close") (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.4 "execute-script" (func $execute-script (;55;)))
  (core func $"#core-func120 indirect-cm32p2|wharf:plugin/webview@0.1-execute-script" (@name "indirect-cm32p2|wharf:plugin/webview@0.1-execute-script") (;120;) (canon lower (func $execute-script) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.4 "perform" (func $perform (;56;)))
  (core func $"#core-func121 indirect-cm32p2|wharf:plugin/webview@0.1-perform" (@name "indirect-cm32p2|wharf:plugin/webview@0.1-perform") (;121;) (canon lower (func $perform) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.4 "poll" (func $"#func57 poll" (@name "poll") (;57;)))
  (core func $"#core-func122 indirect-cm32p2|wharf:plugin/webview@0.1-poll" (@name "indirect-cm32p2|wharf:plugin/webview@0.1-poll") (;122;) (canon lower (func $"#func57 poll") (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.4 "wait" (func $"#func58 wait" (@name "wait") (;58;)))
  (core func $"#core-func123 indirect-cm32p2|wharf:plugin/webview@0.1-wait" (@name "indirect-cm32p2|wharf:plugin/webview@0.1-wait") (;123;) (canon lower (func $"#func58 wait") (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.4 "acknowledge" (func $acknowledge (;59;)))
  (core func $"#core-func124 indirect-cm32p2|wharf:plugin/webview@0.1-acknowledge" (@name "indirect-cm32p2|wharf:plugin/webview@0.1-acknowledge") (;124;) (canon lower (func $acknowledge) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.4 "cancel" (func $"#func60 cancel" (@name "cancel") (;60;)))
  (core func $"#core-func125 indirect-cm32p2|wharf:plugin/webview@0.1-cancel" (@name "indirect-cm32p2|wharf:plugin/webview@0.1-cancel") (;125;) (canon lower (func $"#func60 cancel") (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.4 "read-result" (func $read-result (;61;)))
  (core func $"#core-func126 indirect-cm32p2|wharf:plugin/webview@0.1-read-result" (@name "indirect-cm32p2|wharf:plugin/webview@0.1-read-result") (;126;) (canon lower (func $read-result) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.4 "answer-dialog" (func $answer-dialog (;62;)))
  (core func $"#core-func127 indirect-cm32p2|wharf:plugin/webview@0.1-answer-dialog" (@name "indirect-cm32p2|wharf:plugin/webview@0.1-answer-dialog") (;127;) (canon lower (func $answer-dialog) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (alias export $wharf:plugin/webview@0.1.4 "entries" (func $entries (;63;)))
  (core func $"#core-func128 indirect-cm32p2|wharf:plugin/webview@0.1-entries" (@name "indirect-cm32p2|wharf:plugin/webview@0.1-entries") (;128;) (canon lower (func $entries) (memory $memory) (realloc $realloc) string-encoding=utf8))
  (core instance $fixup-args (;11;)
    (export "$imports" (table $"shim table"))
    (export "0" (func $"#core-func66 indirect-cm32p2|wharf:plugin/caller@0.1-session"))
    (export "1" (func $"#core-func67 indirect-cm32p2|wharf:plugin/caller@0.1-assistant"))
    (export "2" (func $"#core-func68 indirect-cm32p2|wharf:plugin/caller@0.1-thread"))
    (export "3" (func $"#core-func69 indirect-cm32p2|wharf:plugin/caller@0.1-request-meta"))
    (export "4" (func $"#core-func70 indirect-cm32p2|wharf:plugin/log@0.1-write"))
    (export "5" (func $"#core-func71 indirect-cm32p2|wharf:plugin/state@0.1-[static]bucket.open"))
    (export "6" (func $"#core-func72 indirect-cm32p2|wharf:plugin/state@0.1-[method]bucket.get-many"))
    (export "7" (func $"#core-func73 indirect-cm32p2|wharf:plugin/state@0.1-[method]bucket.apply"))
    (export "8" (func $"#core-func74 indirect-cm32p2|wharf:plugin/state@0.1-[method]bucket.scan"))
    (export "9" (func $"#core-func75 indirect-cm32p2|wharf:plugin/state@0.1-[method]bucket.usage"))
    (export "10" (func $"#core-func76 indirect-cm32p2|wharf:plugin/state@0.1-[method]bucket.expired-at"))
    (export "11" (func $"#core-func77 indirect-cm32p2|wharf:plugin/events@0.1-progress"))
    (export "12" (func $"#core-func78 indirect-cm32p2|wharf:plugin/events@0.1-message"))
    (export "13" (func $"#core-func79 indirect-cm32p2|wharf:plugin/events@0.1-open-stream"))
    (export "14" (func $"#core-func80 indirect-cm32p2|wharf:plugin/events@0.1-status"))
    (export "15" (func $"#core-func81 indirect-cm32p2|wharf:plugin/events@0.1-say"))
    (export "16" (func $"#core-func82 indirect-cm32p2|wharf:plugin/events@0.1-advance"))
    (export "17" (func $"#core-func83 indirect-cm32p2|wharf:plugin/events@0.1-complete"))
    (export "18" (func $"#core-func84 indirect-cm32p2|wharf:plugin/settings@0.1-get"))
    (export "19" (func $"#core-func85 indirect-cm32p2|wharf:plugin/process@0.1-status"))
    (export "20" (func $"#core-func86 indirect-cm32p2|wharf:plugin/process@0.1-spawn"))
    (export "21" (func $"#core-func87 indirect-cm32p2|wharf:plugin/process@0.1-spawn-shell"))
    (export "22" (func $"#core-func88 indirect-cm32p2|wharf:plugin/process@0.1-list"))
    (export "23" (func $"#core-func89 indirect-cm32p2|wharf:plugin/process@0.1-poll"))
    (export "24" (func $"#core-func90 indirect-cm32p2|wharf:plugin/process@0.1-wait"))
    (export "25" (func $"#core-func91 indirect-cm32p2|wharf:plugin/process@0.1-read"))
    (export "26" (func $"#core-func92 indirect-cm32p2|wharf:plugin/process@0.1-head"))
    (export "27" (func $"#core-func93 indirect-cm32p2|wharf:plugin/process@0.1-tail"))
    (export "28" (func $"#core-func94 indirect-cm32p2|wharf:plugin/process@0.1-write"))
    (export "29" (func $"#core-func95 indirect-cm32p2|wharf:plugin/process@0.1-close-input"))
    (export "30" (func $"#core-func96 indirect-cm32p2|wharf:plugin/process@0.1-signal"))
    (export "31" (func $"#core-func97 indirect-cm32p2|wharf:plugin/process@0.1-stop"))
    (export "32" (func $"#core-func98 indirect-cm32p2|wharf:plugin/workspace@0.1-files"))
    (export "33" (func $"#core-func99 indirect-cm32p2|wharf:plugin/workspace@0.1-create"))
    (export "34" (func $"#core-func100 indirect-cm32p2|wharf:plugin/workspace@0.1-exchange"))
    (export "35" (func $"#core-func101 indirect-cm32p2|wharf:plugin/workspace@0.1-measure"))
    (export "36" (func $"#core-func102 indirect-cm32p2|wharf:plugin/terminal@0.1-status"))
    (export "37" (func $"#core-func103 indirect-cm32p2|wharf:plugin/terminal@0.1-start"))
    (export "38" (func $"#core-func104 indirect-cm32p2|wharf:plugin/terminal@0.1-start-shell"))
    (export "39" (func $"#core-func105 indirect-cm32p2|wharf:plugin/terminal@0.1-list"))
    (export "40" (func $"#core-func106 indirect-cm32p2|wharf:plugin/terminal@0.1-get"))
    (export "41" (func $"#core-func107 indirect-cm32p2|wharf:plugin/terminal@0.1-send"))
    (export "42" (func $"#core-func108 indirect-cm32p2|wharf:plugin/terminal@0.1-follow"))
    (export "43" (func $"#core-func109 indirect-cm32p2|wharf:plugin/terminal@0.1-cancel"))
    (export "44" (func $"#core-func110 indirect-cm32p2|wharf:plugin/terminal@0.1-press"))
    (export "45" (func $"#core-func111 indirect-cm32p2|wharf:plugin/terminal@0.1-screen"))
    (export "46" (func $"#core-func112 indirect-cm32p2|wharf:plugin/terminal@0.1-read"))
    (export "47" (func $"#core-func113 indirect-cm32p2|wharf:plugin/terminal@0.1-resize"))
    (export "48" (func $"#core-func114 indirect-cm32p2|wharf:plugin/terminal@0.1-close"))
    (export "49" (func $"#core-func115 indirect-cm32p2|wharf:plugin/webview@0.1-status"))
    (export "50" (func $"#core-func116 indirect-cm32p2|wharf:plugin/webview@0.1-open"))
    (export "51" (func $"#core-func117 indirect-cm32p2|wharf:plugin/webview@0.1-list"))
    (export "52" (func $"#core-func118 indirect-cm32p2|wharf:plugin/webview@0.1-get"))
    (export "53" (func $"#core-func119 indirect-cm32p2|wharf:plugin/webview@0.1-close"))
    (export "54" (func $"#core-func120 indirect-cm32p2|wharf:plugin/webview@0.1-execute-script"))
    (export "55" (func $"#core-func121 indirect-cm32p2|wharf:plugin/webview@0.1-perform"))
    (export "56" (func $"#core-func122 indirect-cm32p2|wharf:plugin/webview@0.1-poll"))
    (export "57" (func $"#core-func123 indirect-cm32p2|wharf:plugin/webview@0.1-wait"))
    (export "58" (func $"#core-func124 indirect-cm32p2|wharf:plugin/webview@0.1-acknowledge"))
    (export "59" (func $"#core-func125 indirect-cm32p2|wharf:plugin/webview@0.1-cancel"))
    (export "60" (func $"#core-func126 indirect-cm32p2|wharf:plugin/webview@0.1-read-result"))
    (export "61" (func $"#core-func127 indirect-cm32p2|wharf:plugin/webview@0.1-answer-dialog"))
    (export "62" (func $"#core-func128 indirect-cm32p2|wharf:plugin/webview@0.1-entries"))
  )
  (core instance $fixup (;12;) (instantiate $wit-component-fixup
      (with "" (instance $fixup-args))
    )
  )
  (alias core export $main "cm32p2_initialize" (core func $start (;129;)))
  (core module $start-shim-module (;3;)
    (type (;0;) (func))
    (import "" "" (func (;0;) (type 0)))
    (start 0)
  )
  (core instance $start-shim-args (;13;)
    (export "" (func $start))
  )
  (core instance $start-shim-instance (;14;) (instantiate $start-shim-module
      (with "" (instance $start-shim-args))
    )
  )
  (type (;24;) (list 18))
  (type (;25;) (func (result 24)))
  (alias core export $main "cm32p2|wharf:plugin/tools@0.1|list-tools" (core func $cm32p2|wharf:plugin/tools@0.1|list-tools (;130;)))
  (alias core export $main "cm32p2|wharf:plugin/tools@0.1|list-tools_post" (core func $cm32p2|wharf:plugin/tools@0.1|list-tools_post (;131;)))
  (func $list-tools (;64;) (type 25) (canon lift (core func $cm32p2|wharf:plugin/tools@0.1|list-tools) (memory $memory) string-encoding=utf8 (post-return $cm32p2|wharf:plugin/tools@0.1|list-tools_post)))
  (type (;26;) (result 22 (error $"#type16 error")))
  (type (;27;) (func (param "name" string) (param "arguments" string) (result 26)))
  (alias core export $main "cm32p2|wharf:plugin/tools@0.1|call-tool" (core func $cm32p2|wharf:plugin/tools@0.1|call-tool (;132;)))
  (alias core export $main "cm32p2|wharf:plugin/tools@0.1|call-tool_post" (core func $cm32p2|wharf:plugin/tools@0.1|call-tool_post (;133;)))
  (func $call-tool (;65;) (type 27) (canon lift (core func $cm32p2|wharf:plugin/tools@0.1|call-tool) (memory $memory) (realloc $realloc) string-encoding=utf8 (post-return $cm32p2|wharf:plugin/tools@0.1|call-tool_post)))
  (component $wharf:plugin/tools@0.1.4-shim-component (;0;)
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
  (instance $wharf:plugin/tools@0.1.4-shim-instance (;10;) (instantiate $wharf:plugin/tools@0.1.4-shim-component
      (with "import-func-list-tools" (func $list-tools))
      (with "import-func-call-tool" (func $call-tool))
      (with "import-type-error" (type $"#type16 error"))
      (with "import-type-tool" (type 18))
      (with "import-type-content" (type 20))
      (with "import-type-answer" (type 22))
      (with "import-type-error0" (type $"#type16 error"))
    )
  )
  (export $wharf:plugin/tools@0.1.4 (;11;) "wharf:plugin/tools@0.1.4" (instance $wharf:plugin/tools@0.1.4-shim-instance))
  (@producers
    (processed-by "wit-component" "0.254.2")
  )
)

