//! The values of `wasi:filesystem`: what they weigh, and how they cross to a worker.

use wasmtime_wasi::p2::bindings::{
    clocks::wall_clock,
    filesystem::types::{self, Advice, DescriptorFlags, DescriptorType, ErrorCode, NewTimestamp, OpenFlags, PathFlags},
};

use crate::watch::{
    crossing::{crossing, flags, one_of},
    weight::weightless,
};

weightless!(PathFlags, OpenFlags, DescriptorFlags, Advice, NewTimestamp);

flags! {
    PathFlags { SYMLINK_FOLLOW = 0 };
    OpenFlags { CREATE = 0, DIRECTORY = 1, EXCLUSIVE = 2, TRUNCATE = 3 };
    DescriptorFlags {
        READ = 0,
        WRITE = 1,
        FILE_INTEGRITY_SYNC = 2,
        DATA_INTEGRITY_SYNC = 3,
        REQUESTED_WRITE_SYNC = 4,
        MUTATE_DIRECTORY = 5,
    };
}

one_of!(DescriptorType {
    Unknown = 0,
    BlockDevice = 1,
    CharacterDevice = 2,
    Directory = 3,
    Fifo = 4,
    SymbolicLink = 5,
    RegularFile = 6,
    Socket = 7,
});

one_of!(Advice { Normal = 0, Sequential = 1, Random = 2, WillNeed = 3, DontNeed = 4, NoReuse = 5 });

one_of!(NewTimestamp { NoChange = 0, Now = 1, Timestamp(time) = 2 });

one_of!(ErrorCode {
    Access = 0,
    WouldBlock = 1,
    Already = 2,
    BadDescriptor = 3,
    Busy = 4,
    Deadlock = 5,
    Quota = 6,
    Exist = 7,
    FileTooLarge = 8,
    IllegalByteSequence = 9,
    InProgress = 10,
    Interrupted = 11,
    Invalid = 12,
    Io = 13,
    IsDirectory = 14,
    Loop = 15,
    TooManyLinks = 16,
    MessageSize = 17,
    NameTooLong = 18,
    NoDevice = 19,
    NoEntry = 20,
    NoLock = 21,
    InsufficientMemory = 22,
    InsufficientSpace = 23,
    NotDirectory = 24,
    NotEmpty = 25,
    NotRecoverable = 26,
    Unsupported = 27,
    NoTty = 28,
    NoSuchDevice = 29,
    Overflow = 30,
    NotPermitted = 31,
    Pipe = 32,
    ReadOnly = 33,
    InvalidSeek = 34,
    TextFileBusy = 35,
    CrossDevice = 36,
});

crossing! {
    wall_clock::Datetime { seconds, nanoseconds };
    types::DescriptorStat {
        type_,
        link_count,
        size,
        data_access_timestamp,
        data_modification_timestamp,
        status_change_timestamp,
    };
    types::DirectoryEntry { type_, name };
    types::MetadataHashValue { lower, upper };
}
