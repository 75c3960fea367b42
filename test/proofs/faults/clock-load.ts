import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { eventually } from '../../support/eventually.ts'
import type { WebhookReceiver } from '../../support/servers/webhook-receiver.ts'

/** Of the files of a camera, some eight of which fit beside the others. */
const PICTURE_BYTES = 100_000
const MONTH_S = 30 * 24 * 3_600
const PART_BYTES = 1_000
const UPLOAD_BYTES = 200_000
const TUS = { 'Tus-Resumable': '1.0.0' }

export interface ClockLoadOptions {
  /** Of the instances, which take turns. */
  readonly urls: readonly string[]
  readonly token: string
  readonly receiver: WebhookReceiver
}

/** What clients do while the clock jumps, and what was acknowledged to them. */
export class ClockLoad {
  readonly #options: ClockLoadOptions
  readonly #contents = new Map<string, string>()
  readonly #pictures: string[] = []
  readonly #events: string[] = []
  readonly #deleted: string[] = []
  #upload = ''
  #offset = 0
  #count = 0
  #stops = false

  constructor(options: ClockLoadOptions) {
    this.#options = options
  }

  /** What must be there after every jump. */
  async begin(): Promise<void> {
    for (const name of ['deleted-1', 'deleted-2']) {
      await this.#done('PUT', `repo/${name}`, name)
      const versions = await this.#history()
      await this.#done('DELETE', `repo/${name}`)
      const known = new Set(versions)
      this.#deleted.push(...(await this.#history()).filter((version) => !known.has(version)))
    }
    await this.#done('PUT', `repo/month?expires_in=${MONTH_S}`, 'guest')
    const metadata = `filename ${Buffer.from('resumed').toString('base64')}`
    const created = await this.#fetch({
      method: 'POST',
      path: 'uploads',
      headers: {
        ...TUS,
        'Upload-Length': String(UPLOAD_BYTES),
        'Upload-Metadata': metadata,
      },
    })
    assert.equal(created?.status, 201)
    this.#upload = new URL(created?.headers.get('location') ?? '', this.#options.urls[0]).pathname
  }

  /** Until `stop`. Requests may fail while the clock jumps, but what succeeded stays. */
  async run(): Promise<void> {
    await Promise.all([
      // What is evicted stays within the bound on garbage.
      this.#repeat(1_000, () => this.#takePicture()),
      // All that is replaced stays within the allowance of the history.
      this.#repeat(5_000, () => this.#replace()),
      this.#repeat(1_000, () => this.#append()),
      this.#repeat(2_000, async () => void (await this.putEvent())),
    ])
  }

  async stop(running: Promise<void>): Promise<void> {
    this.#stops = true
    await running
  }

  /** The name of a new file, whose event must arrive. */
  async putEvent(): Promise<string> {
    const name = `event-${this.#count++}`
    const put = async () => this.#done('PUT', `repo/${name}?evict=cam-`, name)
    await eventually(put, 30_000)
    this.#events.push(name)
    return name
  }

  delivered(): readonly unknown[] {
    return this.#options.receiver.received.map(({ body }) => {
      const { data } = JSON.parse(body) as { data: { name?: string } }
      return data.name
    })
  }

  async expectAllThere(webhookMs: number): Promise<void> {
    for (const [name, content] of this.#contents) await this.#expectContent(name, content)
    await this.#expectContent('month', 'guest')
    await this.#expectNewest()
    // Nothing is evicted for a restore.
    for (const name of this.#pictures.slice(-2)) await this.#done('DELETE', `repo/${name}`)
    for (const version of this.#deleted) {
      await this.#done('POST', `history/${version}/restore`)
    }
    await this.#expectContent('deleted-1', 'deleted-1')
    await this.#expectContent('deleted-2', 'deleted-2')
    await this.#finishUpload()
    await eventually(async () => {
      const delivered = new Set(this.delivered())
      assert.deepEqual(
        this.#events.filter((name) => !delivered.has(name)),
        [],
      )
    }, webhookMs)
  }

  /** The camera's files are those that were acknowledged last, without a gap. */
  async #expectNewest(): Promise<void> {
    const listed = await this.#done('GET', 'repo?prefix=cam-&limit=1000')
    const { files } = (await listed.json()) as {
      readonly files: readonly { readonly name: string }[]
    }
    const left = files.map(({ name }) => name).filter((name) => this.#pictures.includes(name))
    assert.ok(left.length > 2)
    assert.deepEqual(left.toSorted(), this.#pictures.slice(-left.length).toSorted())
  }

  async #finishUpload(): Promise<void> {
    while (this.#offset < UPLOAD_BYTES) await this.#append(UPLOAD_BYTES)
    await this.#expectContent('resumed', 'r'.repeat(UPLOAD_BYTES))
  }

  async #takePicture(): Promise<void> {
    const name = `cam-${String(this.#count++).padStart(6, '0')}`
    const body = name.padEnd(PICTURE_BYTES, '.')
    const put = await this.#fetch({ method: 'PUT', path: `repo/${name}?evict=cam-`, body })
    if (put?.status === 200) this.#pictures.push(name)
  }

  async #replace(): Promise<void> {
    const name = `kept-${this.#count % 5}`
    const content = `content ${this.#count++}`
    const put = await this.#fetch({ method: 'PUT', path: `repo/${name}?evict=cam-`, body: content })
    if (put?.status === 200) this.#contents.set(name, content)
    // It may have been stored.
    else this.#contents.delete(name)
  }

  /** The offset never goes back, and no append finds that the upload is gone. */
  async #append(most = PART_BYTES): Promise<void> {
    const head = await this.#fetch({ method: 'HEAD', path: this.#upload, headers: TUS })
    if (head === undefined || head.status >= 500 || head.status === 423) return
    assert.ok(head.status < 300, `the upload is ${head.status}`)
    const offset = Number(head.headers.get('upload-offset'))
    assert.ok(offset >= this.#offset, `${offset} < ${this.#offset}`)
    this.#offset = offset
    const left = UPLOAD_BYTES - offset
    const size = most < UPLOAD_BYTES ? Math.min(most, left - PART_BYTES) : left
    if (size <= 0) return
    const patched = await this.#fetch({
      method: 'PATCH',
      path: this.#upload,
      body: 'r'.repeat(size),
      headers: {
        ...TUS,
        'Upload-Offset': String(offset),
        'Content-Type': 'application/offset+octet-stream',
      },
    })
    if (patched?.status === 204) this.#offset = Number(patched.headers.get('upload-offset'))
  }

  async #history(): Promise<readonly string[]> {
    const listed = await this.#done('GET', 'history')
    const { versions } = (await listed.json()) as {
      readonly versions: readonly { readonly version: string }[]
    }
    return versions.map(({ version }) => version)
  }

  async #expectContent(name: string, content: string): Promise<void> {
    const got = await this.#done('GET', `repo/${name}`)
    assert.equal(await got.text(), content)
  }

  async #done(method: string, path: string, body?: string): Promise<Response> {
    const answer = await this.#fetch({ method, path, body })
    if (answer?.ok === true) return answer
    throw new Error(`${method} ${path}: ${answer?.status} ${await answer?.text()}`)
  }

  async #repeat(everyMs: number, work: () => Promise<void>): Promise<void> {
    while (!this.#stops) {
      await work()
      await setTimeout(everyMs)
    }
  }

  /** By each instance in turn; `undefined` if it did not answer. */
  async #fetch({ method, path, body, headers = {} }: Call): Promise<Response | undefined> {
    const { urls, token } = this.#options
    const base = urls[this.#count % urls.length]
    const url = new URL(path.startsWith('/') ? path : `/users/me/${path}`, base)
    const signal = AbortSignal.timeout(40_000)
    const request = { method, headers: { authorization: `Bearer ${token}`, ...headers }, signal }
    try {
      return await fetch(url, body === undefined ? request : { ...request, body })
    } catch {
      return undefined
    }
  }
}

interface Call {
  readonly method: string
  /** Of the API, or below the user. */
  readonly path: string
  readonly body?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
}
