import { invalidParameter } from '../../core/errors.ts'
import { parseUserId } from '../../core/users/user-id.ts'
import {
  type Finding,
  FINDING_KINDS,
  type FindingKind,
  type Verification,
} from '../../core/verify/verify-run.ts'
import type { CommandCall, ServiceCommand } from '../command.ts'
import { printFinding, showProgress } from '../progress.ts'
import { Bytes, type Row, type Scalar } from '../render.ts'

const ADOPT = 'adopt-store'

/** Prints each finding immediately, because all findings may not fit into memory. */
export const VERIFY: ServiceCommand = {
  usage: `verify [user_id] [--repair] [--deep] [--metrics] [--${ADOPT}] [--sample ...]`,
  acceptsAnyStoreWith: ADOPT,
  summary: 'compare quotas, files, uploads and objects',
  run: async (services, call) => {
    const { operands, switches, json, print, printError, fail, interruption } = call
    const { user_id: userId } = operands
    const adopts = switches.has(ADOPT)
    if (adopts && (switches.has('repair') || userId !== undefined)) {
      throw invalidParameter(ADOPT, `--${ADOPT} verifies all users, without --repair.`)
    }
    const verification = await services.verifier.verify({
      userId: userId === undefined ? undefined : parseUserId(userId),
      repair: switches.has('repair'),
      readOneIn: readOneIn(call),
      onFinding: (finding) => {
        if (!switches.has('metrics')) printFinding(call, rowOf(finding))
      },
      onProgress: showProgress(call, progressOf),
      signal: interruption(),
    })
    if (remaining(verification) > 0) fail()
    if (adopts && LOSSES.some((kind) => verification.remaining[kind] > 0)) printError(NOT_ADOPTED)
    else if (adopts)
      printError(`The database knows the object store as ${await services.adoptStore()} now.`)
    if (switches.has('metrics')) {
      print(metricsOf(verification))
      return undefined
    }
    return summary(verification, json ? FINDING_KINDS : remainingKinds(verification))
  },
}

/** With these, the store may be another one. */
const LOSSES = [
  'missing_object',
  'wrong_size',
  'wrong_digest',
  'unreadable_object',
] as const satisfies readonly FindingKind[]

const NOT_ADOPTED =
  'The object store was not adopted, because it lacks files that the database has. Restore them first, or, if they are ' +
  'lost, write the identity that the database knows into the object store (docs/backup.md, "Another object store").'

function readOneIn({ flags, switches }: CommandCall): number | undefined {
  const { sample } = flags
  if (sample === undefined) return switches.has('deep') ? 1 : undefined
  if (switches.has('deep'))
    throw invalidParameter('sample', '--sample cannot be combined with --deep.')
  const count = Number(sample)
  if (/^\d+$/.test(sample) && Number.isSafeInteger(count) && count >= 1) return count
  throw invalidParameter('sample', '--sample must be a whole number of at least 1.')
}

function progressOf({ users, objects, readFiles }: Verification): string {
  return `${users} users, ${objects} objects, ${readFiles} files read`
}

function rowOf(finding: Finding): Row {
  return {
    kind: finding.kind,
    user_id: finding.userId ?? null,
    file_name: finding.name ?? null,
    object_key: finding.objectKey ?? null,
    recorded: sized(finding, finding.recorded),
    found: sized(finding, finding.found),
    repaired: finding.repaired,
  }
}

/** Other numbers than counts are bytes. */
function sized({ kind }: Finding, value: number | string | undefined): Scalar {
  return typeof value === 'number' && !kind.endsWith('_count') ? new Bytes(value) : (value ?? null)
}

function summary(verification: Verification, kinds: readonly FindingKind[]): Row {
  return {
    users: verification.users,
    files: verification.files,
    objects: verification.objects,
    uploads: verification.uploads,
    read_files: verification.readFiles,
    read_bytes: new Bytes(verification.readBytes),
    ...Object.fromEntries(kinds.map((kind) => [kind, verification.remaining[kind]])),
    repaired: verification.repaired,
    remaining: remaining(verification),
  }
}

function remainingKinds({ remaining }: Verification): readonly FindingKind[] {
  return FINDING_KINDS.filter((kind) => remaining[kind] > 0)
}

function remaining(verification: Verification): number {
  return FINDING_KINDS.reduce((sum, kind) => sum + verification.remaining[kind], 0)
}

/** Prometheus text format 0.0.4, for node_exporter's textfile collector. */
function metricsOf(verification: Verification): string {
  const { users, files, objects, uploads, remaining } = verification
  return [
    head('drift', 'Findings that the last verify did not repair, by kind.'),
    ...FINDING_KINDS.map((kind) => `${PREFIX}drift{kind="${kind}"} ${remaining[kind]}`),
    head('verified', 'Users, files, objects and unfinished uploads that the last verify checked.'),
    ...Object.entries({ users, files, objects, uploads }).map(
      ([of, count]) => `${PREFIX}verified{of="${of}"} ${count}`,
    ),
    head('verify_repaired', 'Findings that the last verify repaired.'),
    `${PREFIX}verify_repaired ${verification.repaired}`,
    head('verify_completion_timestamp_seconds', 'Unix time when the last verify finished.'),
    `${PREFIX}verify_completion_timestamp_seconds ${Math.floor(Date.now() / 1000)}`,
  ].join('\n')
}

const PREFIX = 'cloud_repository_'

function head(name: string, help: string): string {
  return `# HELP ${PREFIX}${name} ${help}\n# TYPE ${PREFIX}${name} gauge`
}
