import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Has a process keep what it compiles for the next one: without, that is half of the time that it takes to start. */
export const KEEP_COMPILED = {
  NODE_COMPILE_CACHE: join(tmpdir(), 'cloud-repository-compiled'),
} as const
