import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { S3StoreOptions } from '../../../src/object-store/s3/store.ts'
import { chunked } from '../objects.ts'
import {
  answer,
  failure,
  type FakeRequest,
  type FakeResponse,
  type Fault,
  xml,
} from './s3-faults.ts'

interface StoredObject {
  readonly content: Buffer
  readonly metadata: Readonly<Record<string, string>>
}

interface OpenUpload {
  readonly key: string
  readonly metadata: StoredObject['metadata']
  readonly parts: Map<number, Buffer>
}

interface CallOptions {
  readonly abortSignal?: unknown
}

/** A bucket in memory behind the real SDK: its retries, signatures and XML all run. */
export class FakeS3 {
  readonly objects = new Map<string, StoredObject>()
  readonly uploads = new Map<string, OpenUpload>()
  /** Operations in the order in which they came. */
  readonly calls: string[] = []
  hasBucket = true
  /** What it does when it is asked to check parts by their CRC-32. */
  checksums: 'ignored' | 'refused' | 'checked' = 'ignored'
  readonly #faults = new Map<string, Fault[]>()
  #uploadCount = 0

  /** Lets the faults decide the next calls of `operation`, one each. */
  inject(operation: string, ...faults: readonly Fault[]): void {
    this.#faults.set(operation, [...(this.#faults.get(operation) ?? []), ...faults])
  }

  /** Settings of a store on this fake, with deadlines that a test can wait for. */
  options(): S3StoreOptions {
    return {
      bucket: 'bucket',
      region: 'us-east-1',
      endpoint: 'http://fake.invalid',
      forcePathStyle: true,
      credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
      requestHandler: {
        handle: (request: FakeRequest, options: CallOptions) => this.#handle(request, options),
      },
      deadlines: {
        callMs: 2000,
        putMs: 3000,
        partMs: 3000,
        completeMs: 3000,
        idleMs: 300,
        cleanupMs: 5000,
        secondLookMs: 10,
      },
      partSize: 5 * 1024 * 1024,
    }
  }

  async #handle(
    request: FakeRequest,
    { abortSignal }: CallOptions = {},
  ): Promise<{ response: FakeResponse }> {
    const signal = abortSignal instanceof AbortSignal ? abortSignal : new AbortController().signal
    const operation = operationOf(request)
    this.calls.push(operation)
    await new Promise((resolve) => setImmediate(resolve))
    signal.throwIfAborted()
    const apply = () => this.apply(request)
    const fault = this.#faults.get(operation)?.shift()
    const response = await (fault ? fault(apply, signal, request) : apply())
    return { response }
  }

  /** Gives a request its effect on the bucket, at once. */
  apply(request: FakeRequest): FakeResponse {
    const operation = operationOf(request)
    const key = keyOf(request)
    if (operation === 'CreateBucket') return this.#createBucket()
    if (!this.hasBucket) return failure(404, 'NoSuchBucket', request)
    switch (operation) {
      case 'HeadBucket':
        return answer(200)
      case 'PutObject':
        if (request.headers['if-none-match'] === '*' && this.objects.has(key)) {
          return failure(412, 'PreconditionFailed', request)
        }
        return this.#store(key, bytesOf(request.body), request)
      case 'CreateMultipartUpload':
        return this.#create(key, request)
      case 'UploadPart':
        return this.#storePart(request)
      case 'CompleteMultipartUpload':
        return this.#complete(request)
      case 'AbortMultipartUpload':
        return this.uploads.delete(queryOf(request, 'uploadId'))
          ? answer(204)
          : failure(404, 'NoSuchUpload', request)
      case 'GetBucket':
        return this.#list(request)
      case 'ListParts':
        return this.#listParts(request)
      case 'ListMultipartUploads':
        return this.#listUploads(request)
      case 'HeadObject':
      case 'GetObject':
        return this.#read(key, request)
      case 'DeleteObject':
        this.objects.delete(key)
        return answer(204)
      default:
        return failure(501, 'NotImplemented', request)
    }
  }

  #createBucket(): FakeResponse {
    if (this.hasBucket) return failure(409, 'BucketAlreadyOwnedByYou')
    this.hasBucket = true
    return answer(200)
  }

  #store(key: string, content: Buffer, request: FakeRequest): FakeResponse {
    this.objects.set(key, { content, metadata: metadataOf(request) })
    return answer(200, { etag: etagOf(content) })
  }

  #create(key: string, request: FakeRequest): FakeResponse {
    const algorithm = request.headers['x-amz-checksum-algorithm']
    if (algorithm !== undefined && this.checksums === 'refused') {
      return failure(501, 'NotImplemented', request)
    }
    this.#uploadCount += 1
    // In the order in which they sort, as a listing goes on after one.
    const uploadId = `upload-${String(this.#uploadCount).padStart(6, '0')}`
    this.uploads.set(uploadId, { key, metadata: metadataOf(request), parts: new Map() })
    const created = xml(
      200,
      `<InitiateMultipartUploadResult><UploadId>${uploadId}</UploadId></InitiateMultipartUploadResult>`,
    )
    if (algorithm === undefined || this.checksums === 'ignored') return created
    return { ...created, headers: { ...created.headers, 'x-amz-checksum-algorithm': algorithm } }
  }

  #storePart(request: FakeRequest): FakeResponse {
    const upload = this.uploads.get(queryOf(request, 'uploadId'))
    if (upload === undefined) return failure(404, 'NoSuchUpload', request)
    const content = bytesOf(request.body)
    upload.parts.set(Number(queryOf(request, 'partNumber')), content)
    return answer(200, { etag: etagOf(content) })
  }

  #complete(request: FakeRequest): FakeResponse {
    const uploadId = queryOf(request, 'uploadId')
    const upload = this.uploads.get(uploadId)
    if (upload === undefined) return failure(404, 'NoSuchUpload', request)
    const parts: Buffer[] = []
    for (const { number, etag } of partsNamedIn(String(request.body))) {
      const part = upload.parts.get(number)
      if (part === undefined || etagOf(part) !== etag) return failure(400, 'InvalidPart', request)
      parts.push(part)
    }
    this.uploads.delete(uploadId)
    const content = Buffer.concat(parts)
    this.objects.set(upload.key, { content, metadata: upload.metadata })
    return xml(
      200,
      `<CompleteMultipartUploadResult><ETag>${etagOf(content)}</ETag></CompleteMultipartUploadResult>`,
    )
  }

  #listParts(request: FakeRequest): FakeResponse {
    const upload = this.uploads.get(queryOf(request, 'uploadId'))
    if (upload === undefined) return failure(404, 'NoSuchUpload', request)
    const after = Number(queryOf(request, 'part-number-marker'))
    const rest = [...upload.parts].sort(([a], [b]) => a - b).filter(([number]) => number > after)
    const page = rest.slice(0, PARTS_A_PAGE)
    const items = page.map(([number, content]) => {
      return `<Part><PartNumber>${number}</PartNumber><ETag>${etagOf(content)}</ETag></Part>`
    })
    const next = `<NextPartNumberMarker>${page.at(-1)?.[0] ?? ''}</NextPartNumberMarker>`
    const more = `<IsTruncated>${rest.length > page.length}</IsTruncated>${next}`
    return xml(200, `<ListPartsResult>${more}${items.join('')}</ListPartsResult>`)
  }

  #listUploads(request: FakeRequest): FakeResponse {
    const prefix = queryOf(request, 'prefix')
    const found = [...this.uploads].filter(([, { key }]) => key.startsWith(prefix))
    // One a page, so that paging is part of every test.
    const after = queryOf(request, 'upload-id-marker')
    const rest = found.filter(([uploadId]) => uploadId > after)
    const items = rest
      .slice(0, 1)
      .map(([id, { key }]) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`)
    const [id = '', { key = '' } = {}] = rest[0] ?? []
    const listed = [
      `<IsTruncated>${rest.length > 1}</IsTruncated>`,
      `<NextKeyMarker>${key}</NextKeyMarker><NextUploadIdMarker>${id}</NextUploadIdMarker>`,
      ...items,
    ].join('')
    return xml(200, `<ListMultipartUploadsResult>${listed}</ListMultipartUploadsResult>`)
  }

  #list(request: FakeRequest): FakeResponse {
    const after = queryOf(request, 'continuation-token')
    const prefix = queryOf(request, 'prefix')
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix) && key > after)
    const page = keys.sort().slice(0, 2)
    const items = page.map((key) => {
      const size = this.objects.get(key)?.content.length
      return `<Contents><Key>${key}</Key><Size>${size}</Size></Contents>`
    })
    const last = page.at(-1)
    const more =
      keys.length > page.length
        ? `<IsTruncated>true</IsTruncated><NextContinuationToken>${last}</NextContinuationToken>`
        : ''
    return xml(200, `<ListBucketResult>${more}${items.join('')}</ListBucketResult>`)
  }

  #read(key: string, request: FakeRequest): FakeResponse {
    const { content, metadata = {} } = this.objects.get(key) ?? {}
    if (content === undefined) return failure(404, 'NoSuchKey', request)
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers['range'] ?? '') ?? []
    const part = first ? content.subarray(Number(first), Number(last) + 1) : content
    const headers = {
      etag: etagOf(content),
      'content-length': String(part.length),
      ...Object.fromEntries(Object.entries(metadata).map(([name, text]) => [META + name, text])),
      ...(first && { 'content-range': `bytes ${first}-${last}/${content.length}` }),
    }
    const body = request.method === 'HEAD' ? Readable.from([]) : chunked(part)
    return { statusCode: first ? 206 : 200, headers, body }
  }
}

const META = 'x-amz-meta-'

/** Few, so that paging is part of tests. */
const PARTS_A_PAGE = 2

/** The parts that a request to complete an upload names, in its order. */
function partsNamedIn(body: string): readonly { readonly number: number; readonly etag: string }[] {
  const named = [...body.matchAll(/<Part>(.*?)<\/Part>/gs)].map(([, part = '']) => part)
  return named.map((part) => ({
    number: Number(/<PartNumber>(\d+)</.exec(part)?.[1]),
    etag: (/<ETag>(.*?)</.exec(part)?.[1] ?? '').replaceAll('&quot;', '"'),
  }))
}

function metadataOf({ headers }: FakeRequest): StoredObject['metadata'] {
  const sent = Object.entries(headers).filter(([name]) => name.startsWith(META))
  return Object.fromEntries(sent.map(([name, text]) => [name.slice(META.length), text]))
}

/** S3's name of the operation that a request asks for. */
export function operationOf(request: FakeRequest): string {
  const { method, query = {} } = request
  const isObject = keyOf(request) !== ''
  if ('uploadId' in query) {
    const names = {
      GET: 'ListParts',
      PUT: 'UploadPart',
      POST: 'CompleteMultipartUpload',
      DELETE: 'AbortMultipartUpload',
    }
    return new Map(Object.entries(names)).get(method) ?? method
  }
  if ('uploads' in query)
    return method === 'POST' ? 'CreateMultipartUpload' : 'ListMultipartUploads'
  const verb = method.charAt(0) + method.slice(1).toLowerCase()
  if (!isObject) return method === 'PUT' ? 'CreateBucket' : `${verb}Bucket`
  return `${verb}Object`
}

/** The key that a request names; empty for the bucket itself. */
export function keyOf({ path }: FakeRequest): string {
  return path.split('/').slice(2).join('/')
}

function queryOf({ query = {} }: FakeRequest, name: string): string {
  return String(query[name] ?? '')
}

function bytesOf(body: unknown): Buffer {
  if (Array.isArray(body)) return Buffer.concat(body.map(bytesOf))
  if (body instanceof Uint8Array) return Buffer.from(body)
  if (typeof body === 'string') return Buffer.from(body)
  if (body === undefined) return Buffer.alloc(0)
  throw new TypeError('The fake takes whole bodies')
}

function etagOf(content: Buffer): string {
  return `"${createHash('md5').update(content).digest('hex')}"`
}
