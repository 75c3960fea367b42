import type { OpenHarness } from '../fixture.ts'
import { resumableAppendContract } from './append-contract.ts'
import { resumableCreationContract } from './creation-contract.ts'
import { resumableEndContract } from './end-contract.ts'
import { resumableModelContract } from './model-contract.ts'
import { resumableRaceContract } from './race-contract.ts'
import { resumableTailsContract } from './tails-contract.ts'

/** The rules of the port `ResumableLedger`. */
export function resumableLedgerContract(name: string, open: OpenHarness, runs: number): void {
  resumableCreationContract(name, open)
  resumableAppendContract(name, open)
  resumableTailsContract(name, open)
  resumableEndContract(name, open)
  resumableRaceContract(name, open)
  resumableModelContract(name, open, runs)
}
