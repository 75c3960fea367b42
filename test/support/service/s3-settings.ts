import type { S3StoreOptions } from '../../../src/object-store/s3/store.ts'

/** The environment of a process that works on a bucket of the tests. */
export function s3Settings(options: S3StoreOptions): Readonly<Record<string, string>> {
  const { bucket, endpoint = '', region, credentials } = options
  return {
    OBJECT_STORE: `s3://${bucket}`,
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_REGION: region ?? '',
    AWS_ACCESS_KEY_ID: credentials?.accessKeyId ?? '',
    AWS_SECRET_ACCESS_KEY: credentials?.secretAccessKey ?? '',
  }
}
