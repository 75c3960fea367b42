import type { Program } from '../program.ts'
import { folders } from './folders.ts'
import { ledger } from './ledger.ts'
import { listFiles } from './list-files.ts'
import { scaling } from './scaling/scaling.ts'
import { size } from './size.ts'
import { sweep } from './sweep/sweep.ts'

export const PROGRAMS: Readonly<Record<string, Program>> = {
  folders,
  ledger,
  'list-files': listFiles,
  scaling,
  size,
  sweep,
}
