import type { ObjectKey } from './object-key.ts'

export interface SignedDownload {
  readonly key: ObjectKey
  /** The value of the header `Content-Disposition`. */
  readonly disposition: string
}

/** PORT: URLs at which clients download objects from the store itself, past the service. */
export interface DownloadUrls {
  /** Of every URL, without the port. */
  readonly hostname: string

  /**
   * Guarantees a URL that works for a minute from now, for GET of this object only, with or without a range. The store
   * answers it with `application/octet-stream`, the given disposition and `Cache-Control: private, no-store`. Sends
   * nothing, and does not find out whether the object exists. Rejects with `unavailable` without credentials.
   */
  sign(download: SignedDownload): Promise<string>
}

/** Downloads of larger files are redirected to such URLs. */
export interface DownloadRedirect {
  readonly aboveBytes: number
  readonly urls: DownloadUrls
}
