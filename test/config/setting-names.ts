import { type Config, readConfig } from '../../src/config/config.ts'

/** Has everything on that other settings hang on. */
export const FULL = {
  OBJECT_STORE: 's3://bucket',
  AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9000',
  JWT_JWKS_URL: 'https://id.example/jwks',
  JWT_ISSUER: 'https://id.example',
  JWT_AUDIENCE: 'cloud',
  ADMIN_TOKEN: 'sixteen-letters!',
  METRICS_PORT: '9091',
  WEBHOOK_URL: 'https://back-end.example/',
  WEBHOOK_SECRET: `whsec_${Buffer.alloc(32).toString('base64')}`,
}

/** The names that are looked for when all parts are set up. */
export function namesRead(): string[] {
  const names = new Set<string>()
  const watch = (settings: Record<string, string>): Config =>
    readConfig(
      new Proxy(settings, {
        get(target, name: string) {
          names.add(name)
          return Reflect.get(target, name) as string | undefined
        },
      }),
    )
  watch({})
  watch({ ...FULL, AWS_ENDPOINT_URL_S3: '' })
  return [...names].filter((name) => !name.endsWith('_FILE'))
}
