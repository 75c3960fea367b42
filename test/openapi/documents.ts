import { readVersion } from '../../src/build-info.ts'
import { ADMIN_API } from './generator/admin-api.ts'
import { documentOf } from './generator/document.ts'
import { PUBLIC_API } from './generator/public-api.ts'
import type { RecordedRoutes } from './generator/recorded-routes.ts'

/** The file of each document, as committed and served. */
export const DOCUMENT_FILES = {
  public: 'api/openapi.json',
  admin: 'api/admin-openapi.json',
} as const

/** The text of both files, by the routes. */
export async function makeDocuments(
  routes: RecordedRoutes,
): Promise<Record<keyof typeof DOCUMENT_FILES, string>> {
  const version = await readVersion()
  return {
    public: textOf(documentOf(routes.public, { ...PUBLIC_API, version })),
    admin: textOf(documentOf(routes.admin, { ...ADMIN_API, version })),
  }
}

function textOf(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`
}
