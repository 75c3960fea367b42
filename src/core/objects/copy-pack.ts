export interface CopyPack {
  /** Path of a pack of small objects. */
  readonly from: string
  /** Path of another one, which is created if it is missing. */
  readonly to: string
  /** Called for each page of objects, with all that were copied so far. */
  readonly onProgress: (copied: CopiedObjects) => void
  /** Called for each object that is damaged. The others are copied. */
  readonly onUnreadable: (unreadable: UnreadableObject) => void
  readonly signal: AbortSignal
}

export interface UnreadableObject {
  readonly objectKey: string
  readonly reason: unknown
}

export interface CopiedObjects {
  readonly objects: number
  readonly bytes: number
}
