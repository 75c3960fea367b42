import type { Inventory } from '../../src/core/verify/inventory.ts'
import type { ObjectStore } from '../../src/core/objects/object-store.ts'
import { createVerifier, type Verifier } from '../../src/core/verify/verifier.ts'
import type { Finding, Verification, VerifyRequest } from '../../src/core/verify/verify-run.ts'
import type { Database } from '../../src/database/database.ts'
import { createLedger, type Ledger } from '../../src/database/ledger.ts'
import { createInventory } from '../../src/database/verify/inventory.ts'
import { GARBAGE_DELAY_MS } from './service/test-core.ts'

export interface VerifiedPorts {
  readonly database: Database
  readonly objects: ObjectStore
  /** Methods that stand in for those of the real port. */
  readonly inventory?: Partial<Inventory>
  readonly ledger?: Partial<Ledger>
}

export function createTestVerifier(ports: VerifiedPorts): Verifier {
  const { database, objects, inventory, ledger } = ports
  return createVerifier({
    inventory: {
      ...createInventory(database, { times: { garbageDelayMs: GARBAGE_DELAY_MS } }),
      ...inventory,
    },
    ledger: { ...createLedger(database, { baseCapacity: 0 }), ...ledger },
    objects,
  })
}

export interface Verified {
  readonly findings: readonly Finding[]
  readonly verification: Verification
}

/** One run over all users, or one, and its findings in the order of their kinds. */
export async function verify(
  ports: VerifiedPorts,
  request: Partial<VerifyRequest> = {},
): Promise<Verified> {
  const findings: Finding[] = []
  const verification = await createTestVerifier(ports).verify({
    userId: undefined,
    repair: false,
    readOneIn: undefined,
    onFinding: (finding) => findings.push(finding),
    signal: AbortSignal.timeout(60_000),
    ...request,
  })
  return { findings: findings.sort((a, b) => a.kind.localeCompare(b.kind)), verification }
}

/** The kinds that a run finds. */
export async function kindsFound(
  ports: VerifiedPorts,
  request?: Partial<VerifyRequest>,
): Promise<readonly string[]> {
  return (await verify(ports, request)).findings.map(({ kind }) => kind)
}
