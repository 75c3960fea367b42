import type { Config } from './config.ts'

/** What is allowed in the settings but hardly meant, a sentence each. None repeats a secret. */
export function settingWarnings(
  environment: Readonly<Record<string, string | undefined>>,
  { objectStore }: Pick<Config, 'objectStore'>,
): readonly string[] {
  const { AWS_ENDPOINT_URL_S3: endpoint = '' } = environment
  const warnings: string[] = []
  if (hasTrialSecret(environment)) {
    warnings.push('runs on trial secrets that everyone can read: see .env.example')
  }
  if (endpoint !== '' && objectStore.kind === 'file') {
    warnings.push(
      `AWS_ENDPOINT_URL_S3 is set but not used: files are kept in ${objectStore.directory} until OBJECT_STORE is s3://<bucket>`,
    )
  }
  return warnings
}

/** Those that docker-compose.yml starts with when nobody has made any up. */
function hasTrialSecret({
  PGPASSWORD,
  AWS_SECRET_ACCESS_KEY,
}: Readonly<Record<string, string | undefined>>): boolean {
  return [PGPASSWORD, AWS_SECRET_ACCESS_KEY].some((secret) => secret?.startsWith('trial-'))
}
