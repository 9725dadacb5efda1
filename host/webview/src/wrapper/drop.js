(async ask => { globalThis[ask.key]?.delete(ask.number); return "{}\n"; })
