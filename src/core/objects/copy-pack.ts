export interface CopyPack {
  /** Path of a pack of small objects. */
  readonly from: string
  /** Path of another one, which is created if it is missing. */
  readonly to: string
  readonly onProgress: (copied: CopiedObjects) => void
  /** Called for an object that is damaged. The others are copied. */
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
