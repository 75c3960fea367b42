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
