import { accountsContract } from '../users/accounts-contract.ts'
import { userSearchContract } from '../users/user-search-contract.ts'
import { madeTokensContract } from '../users/made-tokens-contract.ts'
import { userStoreContract } from '../users/user-store-contract.ts'
import { ledgerAuditContract } from './audit-contract.ts'
import { ledgerBatchContract } from './batch-contract.ts'
import { ledgerChangesContract } from './changes-contract.ts'
import { ledgerClockContract } from './clock-contract.ts'
import { ledgerDatesContract } from './dates-contract.ts'
import { ledgerDeviceContract } from './device-contract.ts'
import { ledgerDeviceModelContract } from './device-model-contract.ts'
import { ledgerDescriptionContract } from './description-contract.ts'
import { ledgerEvictionContract } from './eviction-contract.ts'
import { ledgerEvictionSearchContract } from './eviction-search-contract.ts'
import { ledgerFilesContract } from './files-contract.ts'
import { ledgerFilesRaceContract } from './files-race-contract.ts'
import type { OpenHarness } from './fixture.ts'
import { ledgerGarbageContract } from './garbage-contract.ts'
import { ledgerHistoryContract } from './history-contract.ts'
import { ledgerIdentityContract } from './identity-contract.ts'
import { ledgerContract } from './ledger-contract.ts'
import { ledgerLinksContract } from './links-contract.ts'
import { ledgerListContract } from './list-contract.ts'
import { ledgerModelContract } from './model-contract.ts'
import { ledgerNarrowContract } from './narrow-contract.ts'
import { ledgerNarrowEndsContract } from './narrow-ends-contract.ts'
import { ledgerOperatorsContract } from './operators-contract.ts'
import { ledgerOverviewContract } from './overview-contract.ts'
import { ledgerPreconditionContract } from './precondition-contract.ts'
import { ledgerPrefixBatchContract } from './prefix-batch-contract.ts'
import { ledgerRaceContract } from './race-contract.ts'
import { ledgerRetentionContract } from './retention-contract.ts'
import { ledgerRollUpContract } from './roll-up-contract.ts'
import { ledgerSweepContract } from './sweep-contract.ts'
import { ledgerWebhooksContract } from './webhooks-contract.ts'

/** Users and their tokens, and what is told of them. */
export function accountContracts(name: string, open: OpenHarness): void {
  userStoreContract(name, open)
  madeTokensContract(name, open)
  accountsContract(name, open)
  userSearchContract(name, open)
  ledgerOverviewContract(name, open)
  ledgerAuditContract(name, open)
  ledgerOperatorsContract(name, open)
  ledgerChangesContract(name, open)
  ledgerWebhooksContract(name, open)
  ledgerClockContract(name, open)
}

/** What changes, lists and remembers files. `runs` is how often each property is tried. */
export function fileContracts(
  name: string,
  open: OpenHarness,
  runs: { readonly list: number; readonly rollUp: number; readonly dates: number },
): void {
  ledgerFilesContract(name, open)
  ledgerFilesRaceContract(name, open)
  ledgerListContract(name, open, runs.list)
  ledgerRollUpContract(name, open, runs.rollUp)
  ledgerHistoryContract(name, open)
  ledgerDatesContract(name, open, runs.dates)
}

/** What begins, commits and ends uploads, and what makes room for them. */
export function uploadContracts(
  name: string,
  open: OpenHarness,
  runs: { readonly model: number; readonly batch: number },
): void {
  ledgerContract(name, open)
  ledgerPreconditionContract(name, open)
  ledgerRaceContract(name, open)
  ledgerModelContract(name, open, runs.model)
  ledgerBatchContract(name, open, runs.batch)
  ledgerPrefixBatchContract(name, open)
  ledgerRetentionContract(name, open)
  ledgerEvictionContract(name, open)
  ledgerDeviceModelContract(name, open, runs.model)
  ledgerDeviceContract(name, open)
  ledgerEvictionSearchContract(name, open)
  ledgerNarrowContract(name, open)
  ledgerLinksContract(name, open)
  ledgerNarrowEndsContract(name, open)
  ledgerDescriptionContract(name, open)
  ledgerIdentityContract(name, open)
  ledgerGarbageContract(name, open)
  ledgerSweepContract(name, open)
}
