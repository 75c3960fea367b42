import type { Scenario } from '../scenario.ts'
import { smallFiles } from './small-files.ts'

export const SCENARIOS: readonly Scenario[] = [...smallFiles]

/** What `--quick` measures. */
export const QUICK = ['upload-form-4k', 'download-4k']
