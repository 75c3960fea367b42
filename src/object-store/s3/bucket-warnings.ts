import {
  GetBucketLifecycleConfigurationCommand,
  GetBucketVersioningCommand,
  GetObjectLockConfigurationCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { hasName } from './bucket.ts'
import { createS3Client, type S3Place } from './sdk-client.ts'

interface BucketPlace extends S3Place {
  readonly bucket: string
  readonly signal: AbortSignal
}

/**
 * Settings of the bucket with which removed objects go on taking space. A setting that cannot be read counts as right.
 */
export async function bucketWarnings(place: BucketPlace): Promise<readonly string[]> {
  const { bucket, region, endpoint, forcePathStyle, credentials, signal } = place
  const asked = { bucket, signal }
  const client = createS3Client({ region, endpoint, forcePathStyle, credentials })
  try {
    const [keepsVersions, locks] = await Promise.all([
      keepsVersionsForGood(client, asked).catch(() => false),
      locksObjects(client, asked).catch(() => false),
    ])
    return [keepsVersions ? [VERSIONED] : [], locks ? [LOCKED] : []].flat()
  } finally {
    client.destroy()
  }
}

const VERSIONED =
  'the bucket keeps versions, so deleted files go on taking space: switch versioning off, or add a lifecycle rule that ' +
  'expires noncurrent versions'

const LOCKED = 'the bucket locks objects, so deleted files go on taking space until the lock ends'

type Asked = Pick<BucketPlace, 'bucket' | 'signal'>

async function keepsVersionsForGood(
  client: S3Client,
  { bucket, signal: abortSignal }: Asked,
): Promise<boolean> {
  const of = { Bucket: bucket }
  const { Status } = await client.send(new GetBucketVersioningCommand(of), { abortSignal })
  if (Status !== 'Enabled') return false
  const { Rules = [] } = await client
    .send(new GetBucketLifecycleConfigurationCommand(of), { abortSignal })
    .catch((error: unknown) => {
      if (!hasName(error, 'NoSuchLifecycleConfiguration')) throw error
      return { Rules: [] }
    })
  return !Rules.some((rule) => rule.Status === 'Enabled' && rule.NoncurrentVersionExpiration)
}

async function locksObjects(
  client: S3Client,
  { bucket, signal: abortSignal }: Asked,
): Promise<boolean> {
  const command = new GetObjectLockConfigurationCommand({ Bucket: bucket })
  const { ObjectLockConfiguration: lock } = await client.send(command, { abortSignal })
  return lock?.Rule !== undefined
}
