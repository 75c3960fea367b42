import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { hasCode, MISSING } from '../../core/system-error.ts'

export interface PageFile {
  readonly type: string
  /** In every coding. */
  readonly contents: ReadonlyMap<Coding, PageContent>
  /** Its Content-Security-Policy, if not that of the other files. */
  readonly policy?: string
}

export interface PageContent {
  readonly bytes: Buffer
  /** Unquoted; differs between codings. */
  readonly etag: string
}

export const CODINGS = ['br', 'gzip', 'identity'] as const

export type Coding = (typeof CODINGS)[number]

export interface WebPage {
  /** `undefined` if the pages have not been built. */
  readonly document: PageFile | undefined
  readonly assets: ReadonlyMap<string, PageFile>
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}

const EXTENSIONS = { br: '.br', gzip: '.gz', identity: '' } as const

/** Reads a page and its assets into memory: only files that exist now are ever served. Empty without a build. */
export async function readWebPage(folder: string, document: string): Promise<WebPage> {
  const names = await namesIn(join(folder, 'assets'))
  const assets = names
    .filter((name) => extname(name) in TYPES)
    .map(async (name) => [name, await readPageFile(join(folder, 'assets', name))] as const)
  return {
    document: await readDocument(folder, document),
    assets: new Map(await Promise.all(assets)),
  }
}

export async function readDocument(folder: string, name: string): Promise<PageFile | undefined> {
  const isBuilt = (await namesIn(folder)).includes(name)
  return isBuilt ? readPageFile(join(folder, name)) : undefined
}

async function readPageFile(path: string): Promise<PageFile> {
  const contents = new Map<Coding, PageContent>()
  for (const coding of CODINGS) {
    contents.set(coding, contentOf(await readFile(path + EXTENSIONS[coding])))
  }
  return { type: typeOf(extname(path)), contents }
}

const COMPRESS = { br: promisify(brotliCompress), gzip: promisify(gzip) } as const

/** A file that is not of the build. `extension` begins with a dot. */
export async function createPageFile(extension: string, bytes: Buffer): Promise<PageFile> {
  return {
    type: typeOf(extension),
    contents: new Map<Coding, PageContent>([
      ['br', contentOf(await COMPRESS.br(bytes))],
      ['gzip', contentOf(await COMPRESS.gzip(bytes))],
      ['identity', contentOf(bytes)],
    ]),
  }
}

function typeOf(extension: string): string {
  return TYPES[extension] ?? 'application/octet-stream'
}

function contentOf(bytes: Buffer): PageContent {
  const digest = hash('sha256', bytes, 'base64url')
  return { bytes, etag: digest.slice(0, 22) }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (hasCode(error, MISSING)) return []
    throw error
  }
}
