/** What an upload asks for, in one request or in several. */
export interface UploadTerms {
  readonly demands: 'nothing' | 'no file' | 'a file' | 'wrong digest' | 'right digest'
  /** The prefix of the names of files that may go to make room, if any may. */
  readonly evict: string | undefined
  readonly expiresInMs: number | undefined
  /** Of the metadata that it sends; 0 sends empty ones, which remove those of the replaced file. */
  readonly metadataBytes: number | undefined
  /** The narrow credential of the client; `undefined` for a token without a scope. */
  readonly credential: string | undefined
  /** The device whose token the client has. */
  readonly deviceId: string | undefined
}
