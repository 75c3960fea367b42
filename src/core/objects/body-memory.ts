/** The memory budget of one body. The caller provides it to the store. */
export interface BodyMemory {
  /**
   * Yields `content` chunk by chunk and counts each chunk as held. A chunk waits until there is room for it. Fails with
   * `unavailable` if that takes too long, or if others need the room more. Called once.
   */
  hold(content: AsyncIterable<Uint8Array>, options?: HoldOptions): AsyncGenerator<Uint8Array, void>
  /** After the end of the content: counts `bytes` more as held if there is room now, and returns whether there was. */
  tryHold(bytes: number): boolean
  /** `bytes` of the yielded content have left the store's memory. */
  release(bytes: number): void
  /** The store will not read the chunk again; the caller may free the chunk's memory at once. */
  detach(chunk: Uint8Array): void
}

export interface HoldOptions {
  /**
   * Bytes that the store collects before it sends a part; 0 if it collects none. Defaults to the memory's part size,
   * which is the maximum. A full part is sent when the next byte or the end arrives, independently of other held bytes.
   */
  readonly partSize?: number
  /** An upper bound in bytes, if known; a hint to claim less memory. */
  readonly expectedSize?: number | undefined
  /** The first part, if the store adds bytes to it that it has stored earlier. */
  readonly firstPart?: FirstPart | undefined
  /** Ends the wait for room; `hold` then fails with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

export interface FirstPart {
  /** Bytes of content that complete the part. */
  readonly contentBytes: number
  /** Bytes that the store adds to the complete part: counted as held with the last of the content, in one claim. */
  readonly heldBefore: number
}
