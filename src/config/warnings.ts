import type { Config } from './config.ts'

/**
 * Warnings about valid settings, and a limit of the process, that are probably unintended; also log messages. Never
 * repeats a secret.
 */
export function settingWarnings(
  environment: Readonly<Record<string, string | undefined>>,
  { objectStore }: Config,
  maxDescriptors: number,
): readonly string[] {
  const { AWS_ENDPOINT_URL_S3: endpoint = '' } = environment
  const warnings: string[] = []
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
function hasTrialSecret({
  PGPASSWORD,
  AWS_SECRET_ACCESS_KEY,
}: Readonly<Record<string, string | undefined>>): boolean {
  return [PGPASSWORD, AWS_SECRET_ACCESS_KEY].some((secret) => secret?.startsWith('trial-'))
}
