import { type Config, settingNames } from './config.ts'
import type { EnvFile } from './env-files.ts'
import type { Environment } from './reader.ts'
import { unknownSettings } from './unknown-settings.ts'

export interface Checked {
  readonly environment: Environment
  /** From which some of its variables are. */
  readonly files: readonly EnvFile[]
  readonly config: Config
  readonly maxDescriptors: number
}

/**
 * Warnings about settings, names that are none, and a limit of the process that are probably unintended; also log
 * messages. Never repeats a secret.
 */
export function settingWarnings(checked: Checked): readonly string[] {
  const { environment, files, maxDescriptors } = checked
  const { objectStore } = checked.config
  const { AWS_ENDPOINT_URL_S3: endpoint = '' } = environment
  const warnings = [...unknownSettings({ environment, files, settings: settingNames() })]
  if (hasTrialSecret(environment)) {
    warnings.push('publicly known trial secrets are in use; see .env.example')
  }
  if (endpoint !== '' && objectStore.kind === 'file') {
    const { directory } = objectStore
    warnings.push(
      `AWS_ENDPOINT_URL_S3 is set but not used: files are stored in ${directory} unless OBJECT_STORE is s3://<bucket>`,
    )
  }
  if (!['', '1'].includes(environment['WORKERS'] ?? '')) {
    warnings.push('WORKERS has no effect: to use several cores, run several instances')
  }
  if (maxDescriptors < LEAST_DESCRIPTORS) {
    warnings.push(
      `the process may open only ${maxDescriptors} files and connections (ulimit -Hn): requests that find none left get 503; allow at least ${LEAST_DESCRIPTORS}`,
    )
  }
  return warnings
}

/** Half of them are for connections. With 256, 64 uploads of local files at once work; with 128, some fail. */
const LEAST_DESCRIPTORS = 1024

/** The default secrets of docker-compose.yml have this prefix. */
function hasTrialSecret({ PGPASSWORD, AWS_SECRET_ACCESS_KEY }: Environment): boolean {
  return [PGPASSWORD, AWS_SECRET_ACCESS_KEY].some((secret) => secret?.startsWith('trial-'))
}
