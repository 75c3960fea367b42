import { randomBytes } from 'node:crypto'
import { utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Locator, type Page, type Request } from 'playwright-core'
import { MIB } from '../http/fixture.ts'
import { createMemoryFolder } from '../support/servers/local-server.ts'
import {
  startTestService,
  type TestService,
  type TestServiceOptions,
} from '../support/service/test-service.ts'

/** Just large enough to be continued. */
export const FILM_BYTES = 17 * MIB

export interface Film {
  readonly path: string
  readonly content: Buffer
}

/** Writes a file that the page sends so that it can be continued. */
export async function makeFilm(
  folder: string,
  modified = new Date(1_700_000_000_000),
): Promise<Film> {
  const film = { path: join(folder, 'film.mov'), content: randomBytes(FILM_BYTES) }
  await writeFile(film.path, film.content)
  await utimes(film.path, modified, modified)
  return film
}

/** Chooses a file that lies on the disk, in the dialog of the browser. */
export async function choose(page: Page, { path }: Pick<Film, 'path'>): Promise<void> {
  await page.locator('[data-picker=files]').setInputFiles(path)
}

/** Waits until some MiB of the film, and not all of them, have left. */
export async function isUnderWay(page: Page): Promise<void> {
  await uploads(page)
    .getByText(/^([2-9]|1[0-2])(\.\d)? MiB of 17 MiB/)
    .waitFor()
}

export const uploads = (page: Page): Locator => page.getByRole('region', { name: 'Uploads' })

export const unfinished = (page: Page): Locator =>
  page.getByRole('list', { name: 'Unfinished uploads' }).getByRole('listitem')

export interface TusRequests {
  /** How many uploads were created. */
  readonly creations: () => number
  /** Where each append began. */
  readonly offsets: () => readonly number[]
  /** The paths of all requests. */
  readonly paths: readonly string[]
}

/** The requests of a page from now on. */
export function watchRequests(page: Page): TusRequests {
  const requests: Request[] = []
  const paths: string[] = []
  page.on('request', (request) => {
    paths.push(new URL(request.url()).pathname)
    requests.push(request)
  })
  const by = (method: string): readonly Request[] =>
    requests.filter((request) => request.method() === method)
  return {
    paths,
    creations: () => by('POST').filter((request) => request.url().endsWith('/uploads')).length,
    offsets: () => by('PATCH').map((request) => Number(request.headers()['upload-offset'])),
  }
}

/** What the browser keeps for the page. */
export async function storedIn(page: Page): Promise<unknown> {
  return page.evaluate(`(async () => ({
    local: localStorage.length,
    session: sessionStorage.length,
    databases: (await indexedDB.databases()).length,
    caches: (await caches.keys()).length,
    workers: (await navigator.serviceWorker.getRegistrations()).length,
    cookies: document.cookie,
  }))()`)
}

export const NOTHING_STORED = {
  local: 0,
  session: 0,
  databases: 0,
  caches: 0,
  workers: 0,
  cookies: '',
} as const

export interface RestartableService {
  readonly service: () => TestService
  /** Ends the service, and starts another one on what it has left, on another port. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export async function startRestartable(options: TestServiceOptions): Promise<RestartableService> {
  const folder = await createMemoryFolder('restarted')
  const place = { environment: { DATA_DIR: folder.path } }
  let service = await startTestService(place, options)
  return {
    service: () => service,
    async restart() {
      await service.stop()
      service = await startTestService(place, options)
    },
    async stop() {
      await service.stop()
      await folder.remove()
    },
  }
}
