/**
 * A longer header is malformed, in characters. A head may have 16 KiB, of which some parsers take 8 ms of the event loop,
 * also for clients without a token. No header that a client needs is near this.
 */
export const MAX_PARSED_LENGTH = 1024
