import * as fc from 'fast-check'
import { EVERY_FILE, FEW_FILES } from './names.ts'
import {
  CLIENT_IDLE_MS,
  FREE_METADATA_BYTES,
  MAX_FILE_SIZE,
  MAX_METADATA_BYTES,
  PART_SIZE,
} from './parameters.ts'
import type { UploadTerms } from './upload-terms.ts'

/** How the client of an append behaves. */
export type AppendClient = 'well' | 'breaks off' | 'stalls' | 'slow' | 'sends too much'

export interface CreateAction extends UploadTerms {
  readonly kind: 'create'
  readonly process: number
  readonly user: number
  readonly file: number
  /** Of the whole content. */
  readonly size: number
  readonly isDeferred: boolean
  /** How many bytes the request sends at once; none at 0. */
  readonly bytes: number
  readonly client: AppendClient
}

export interface AppendAction {
  readonly kind: 'append'
  readonly process: number
  /** Counted back from the latest upload that a client knows. */
  readonly upload: number
  /** At most the rest is sent. */
  readonly bytes: number
  /** Asks for the offset first, as a client does that comes back. */
  readonly asks: boolean
  /** Whether the request says how many bytes it sends. */
  readonly isSized: boolean
  /** Declares a deferred length. */
  readonly declares: boolean
  readonly client: AppendClient
  readonly checksum: 'none' | 'right' | 'wrong'
  /** Whether the bytes are those of another file of the same length. */
  readonly isForeign: boolean
  /** A second append at the same offset asks the next instance at the same moment. */
  readonly twin: 'none' | 'same' | 'foreign'
}

export interface NamedUploadAction {
  readonly kind: 'head' | 'cancel'
  readonly process: number
  readonly upload: number
}

export type ResumableAction = CreateAction | AppendAction | NamedUploadAction

const process = fc.nat({ max: 2 })

const bytes = fc.oneof(
  fc.constantFrom(0, 1, PART_SIZE - 1, PART_SIZE, PART_SIZE + 1, 2 * PART_SIZE, MAX_FILE_SIZE),
  fc.nat({ max: MAX_FILE_SIZE }),
)

const client = fc.oneof(
  { weight: 8, arbitrary: fc.constant('well' as const) },
  {
    weight: 4,
    arbitrary: fc.constantFrom<AppendClient>('breaks off', 'stalls', 'slow', 'sends too much'),
  },
)

// Mostly the latest, so that requests meet.
const upload = fc.constantFrom(0, 0, 0, 1, 2, 3)

/** None, one of the files, or all of them. */
export const evict = fc.oneof(
  { weight: 1, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom(FEW_FILES, EVERY_FILE, EVERY_FILE, EVERY_FILE) },
)

/** For ever, or until it meets the next operations, or a sweep. */
export const expiresInMs = fc.oneof(
  { weight: 7, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom(300, CLIENT_IDLE_MS, 20 * CLIENT_IDLE_MS) },
)

/** Mostly none; else free of charge, a little more, or as many as there may be. */
export const metadataBytes = fc.oneof(
  { weight: 8, arbitrary: fc.constant(undefined) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      0,
      0,
      20,
      FREE_METADATA_BYTES,
      FREE_METADATA_BYTES + 1,
      FREE_METADATA_BYTES + PART_SIZE,
      FREE_METADATA_BYTES + 2 * PART_SIZE,
      MAX_METADATA_BYTES,
    ),
  },
)

/** Mostly none, so that those who have one meet those who do not. */
export const credential = fc.oneof(
  { weight: 4, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom('token-a', 'token-a', 'token-b') },
)

/** Mostly none. */
export const deviceId = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom('camera-a', 'camera-a', 'camera-b') },
)

/** Until it meets the next operations, or a sweep; or for ever. */
export const soon = fc.constantFrom(undefined, 300, CLIENT_IDLE_MS, 20 * CLIENT_IDLE_MS)

export const create: fc.Arbitrary<CreateAction> = fc.record({
  kind: fc.constant('create'),
  process,
  user: fc.constantFrom(0, 0, 0, 1),
  file: fc.constantFrom(0, 0, 0, 1, 1, 2, 2, 4),
  size: fc.oneof(
    fc.constantFrom(0, 1, PART_SIZE, 2 * PART_SIZE, 3 * PART_SIZE),
    fc.nat({ max: PART_SIZE }),
    fc.nat({ max: MAX_FILE_SIZE }),
  ),
  isDeferred: oneIn(4),
  bytes: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: bytes }),
  client,
  evict,
  expiresInMs,
  metadataBytes,
  credential,
  deviceId,
  demands: fc.oneof(
    { weight: 8, arbitrary: fc.constant('nothing' as const) },
    {
      weight: 3,
      arbitrary: fc.constantFrom<CreateAction['demands']>(
        'no file',
        'a file',
        'wrong digest',
        'right digest',
      ),
    },
  ),
})

export const append: fc.Arbitrary<AppendAction> = fc.record({
  kind: fc.constant('append'),
  process,
  upload,
  bytes,
  asks: fc.boolean(),
  isSized: fc.boolean(),
  declares: fc.boolean(),
  client,
  checksum: fc.constantFrom<AppendAction['checksum']>('none', 'none', 'none', 'right', 'wrong'),
  isForeign: oneIn(12),
  twin: fc.constantFrom<AppendAction['twin']>('none', 'none', 'none', 'none', 'same', 'foreign'),
})

export const named: fc.Arbitrary<NamedUploadAction> = fc.record({
  kind: fc.constantFrom('head', 'head', 'head', 'head', 'cancel'),
  process,
  upload,
})

function oneIn(n: number): fc.Arbitrary<boolean> {
  return fc.nat({ max: n - 1 }).map((drawn) => drawn === 0)
}
