import { HeadBucketCommand, type S3Client } from '@aws-sdk/client-s3'

/** Where a bucket is: what its requests have in common. */
export interface S3Endpoint {
  readonly protocol: string
  readonly hostname: string
  readonly port?: number | undefined
  /** What stands before the key, with a slash at its end. */
  readonly path: string
}

/** Asks the SDK, whose rules know regions, end points, and buckets in the path or in the host name. Sends nothing. */
export async function resolveEndpoint(client: S3Client, bucket: string): Promise<S3Endpoint> {
  const command = new HeadBucketCommand({ Bucket: bucket })
  let located: S3Endpoint | undefined
  command.middlewareStack.add(
    () =>
      async ({ request }) => {
        const { protocol, hostname, port, path } = request as S3Endpoint
        located = { protocol, hostname, port, path: path.endsWith('/') ? path : `${path}/` }
        return { response: {}, output: { $metadata: {} } }
      },
    { step: 'build', priority: 'high' },
  )
  await client.send(command)
  if (located === undefined) throw new Error(`The SDK does not say where the bucket ${bucket} is`)
  return located
}
