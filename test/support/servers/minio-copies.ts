import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  type S3Client,
} from '@aws-sdk/client-s3'
import { createS3Client } from '../../../src/object-store/s3/sdk-client.ts'
import type { ClusterNode } from './minio-cluster.ts'

interface StoredObject {
  readonly bucket: string
  readonly key: string
}

/**
 * What each node by itself answers about an object, to its removal too, and which files of it are in the folder of each
 * before and after: for the message of a test that fails, since the object is gone then.
 */
export async function describeCopies(
  nodes: readonly ClusterNode[],
  object: StoredObject,
): Promise<string> {
  const lines = [await filesOn(nodes, object)]
  for (const question of ['list', 'head', 'get', 'delete', 'head'] as const) {
    const answers = await Promise.all(nodes.map((node) => askOne(node, question, object)))
    lines.push(`${question}: ${answers.join(' | ')}`)
  }
  lines.push(await filesOn(nodes, object))
  return lines.join('\n')
}

/** Whether each node by itself says that it has the object. */
export async function haveObject(
  nodes: readonly ClusterNode[],
  object: StoredObject,
): Promise<boolean> {
  const answers = await Promise.all(nodes.map((node) => askOne(node, 'head', object)))
  return answers.every((answer) => answer.endsWith('bytes'))
}

/** Whether the folder of each node holds some of it: what was written while a node lacked does so only later. */
export async function isOnAll(
  nodes: readonly ClusterNode[],
  object: StoredObject,
): Promise<boolean> {
  return !(await filesOn(nodes, object)).includes('none')
}

async function filesOn(
  nodes: readonly ClusterNode[],
  { bucket, key }: StoredObject,
): Promise<string> {
  const found = nodes.map(async ({ folder }) => {
    const names = await readdir(join(folder, bucket, key), { recursive: true }).catch(() => [])
    return names.join(' ') || 'none'
  })
  return `files: ${(await Promise.all(found)).join(' | ')}`
}

type Question = 'list' | 'head' | 'get' | 'delete'

async function askOne(
  { address }: ClusterNode,
  question: Question,
  object: StoredObject,
): Promise<string> {
  const { endpoint, region, ...credentials } = address
  const client = createS3Client({ endpoint, region, forcePathStyle: true, credentials })
  try {
    return await answerTo(client, question, object)
  } catch (error) {
    return String(error)
  } finally {
    client.destroy()
  }
}

async function answerTo(
  client: S3Client,
  question: Question,
  { bucket: Bucket, key: Key }: StoredObject,
): Promise<string> {
  const options = { abortSignal: AbortSignal.timeout(5_000) }
  switch (question) {
    case 'list': {
      const { Contents = [] } = await client.send(
        new ListObjectsV2Command({ Bucket, Prefix: Key }),
        options,
      )
      return `${Contents.length}`
    }
    case 'head':
      return `${(await client.send(new HeadObjectCommand({ Bucket, Key }), options)).ContentLength} bytes`
    case 'get': {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }), options)
      return `${(await Body?.transformToByteArray())?.length} bytes`
    }
    case 'delete': {
      const { $metadata } = await client.send(new DeleteObjectCommand({ Bucket, Key }), options)
      return `${$metadata.httpStatusCode}`
    }
  }
}
