/** The least of a part, and of what it takes to be a multipart upload, in bytes. */
export const PART_SIZE = 64

/** What users mostly have without a grant, in bytes: room for a few files, so that they compete. */
export const BASE_CAPACITY = 400

/** Metadata of so many bytes count nothing, and more are refused (core/quota/README.md). */
export const FREE_METADATA_BYTES = 256
export const MAX_METADATA_BYTES = 2048

export const MAX_FILES = 3

/** Few enough that uploads of one user meet it. */
export const MAX_UPLOADS = 4

/** Of resumable uploads; few enough that those of one user meet it. */
export const MAX_UNFINISHED = 4

/** In bytes. */
export const MAX_FILE_SIZE = 300

/** As `compose.ts` sets them, in milliseconds. */
export const LEASE_MS = 60_000
export const GARBAGE_DELAY_MS = 10 * 60_000
export const RETENTION_MS = 15 * 60_000

/** How long changes are kept; short enough that sweeps forget some. */
export const EVENT_LIFETIME_MS = 30 * 60_000

/** None, and as long as some sweeps are apart. */
export const HISTORY_LIFETIMES_MS = [0, 20 * 60_000] as const

/** In per cent of the capacity: room for a few past versions, each of which counts 4 KiB. */
export const HISTORY_SHARE = 5_000

/** The longest that a request which nobody waits for any more takes to have its effect; below both delays. */
export const MAX_ZOMBIE_MS = 400_000

/** The longest pause of a process: with a zombie after it, still within the retention. */
export const MAX_PAUSE_MS = 300_000

/** How long a client may stop sending before the listener ends the request. */
export const CLIENT_IDLE_MS = 60_000

/** When the database's driver stops waiting for an answer. */
export const DATABASE_TIMEOUT_MS = 30_000

/** No operation of a process that runs takes longer (I9), all deadlines of its calls one after the other. */
export const MAX_OPERATION_MS = 30 * 60_000

/** As short as the time for an empty upload, and as long as the default, in milliseconds. */
export const UPLOAD_LIFETIMES_MS = [10 * 60_000, 24 * 60 * 60_000] as const

/** How long the key of a tail is journalled beyond the lease of its upload, at the most. */
export const TAIL_GRACE_MS = 75 * 60_000

/**
 * Longer than a run takes before it comes to rest, so that no wrong clock is ever believed (core/clock/safe-time.ts):
 * ahead, and back.
 */
export const CLOCK_JUMPS_MS = [40 * 24 * 60 * 60_000, -2 * 24 * 60 * 60_000] as const

/** Any lead of a clock is believed by then. */
export const BELIEVED_MS = 25 * 60 * 60_000

/** How often an instance asks which of its appends are to stop (`background-jobs.ts`). */
export const STOP_INTERVAL_MS = 1_000
