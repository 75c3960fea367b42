import { FINDING_KINDS, type Verification } from '../core/verify/run.ts'

/** A run of `verify` in Prometheus' text format 0.0.4, for node_exporter's textfile collector. */
export function metricsOf(verification: Verification, nowMs: number = Date.now()): string {
  const { users, files, objects, remaining } = verification
  return [
    ...head('drift', 'What verify found and did not repair, by kind.'),
    ...FINDING_KINDS.map((kind) => `${PREFIX}drift{kind="${kind}"} ${remaining[kind]}`),
    ...head('verified', 'What verify looked at.'),
    ...Object.entries({ users, files, objects }).map(
      ([of, count]) => `${PREFIX}verified{of="${of}"} ${count}`,
    ),
    ...head('verify_repaired', 'What verify found and repaired.'),
    `${PREFIX}verify_repaired ${verification.repaired}`,
    ...head('verify_completion_timestamp_seconds', 'When verify came to its end.'),
    `${PREFIX}verify_completion_timestamp_seconds ${Math.floor(nowMs / 1000)}`,
  ].join('\n')
}

const PREFIX = 'cloud_repository_'

function head(name: string, help: string): readonly string[] {
  return [`# HELP ${PREFIX}${name} ${help}`, `# TYPE ${PREFIX}${name} gauge`]
}
