import { openEmbedded } from '../support/service/embedded-service.ts'
import { NO_BUILD } from '../support/http/page.ts'

/** The file of each document, as committed. */
export const DOCUMENT_FILES = {
  public: 'api/openapi.json',
  admin: 'api/admin-openapi.json',
} as const

const ADMIN_TOKEN = 'the-admin-token-of-the-documents'

/** The text of both documents as the service answers them, laid out for people. */
export async function readDocuments(): Promise<Record<keyof typeof DOCUMENT_FILES, string>> {
  const service = await openEmbedded({
    adminToken: ADMIN_TOKEN,
    page: NO_BUILD,
    operatorPage: NO_BUILD,
  })
  try {
    const [own, admin] = await Promise.all([
      textOf(service.port, {}),
      textOf(service.adminPort, { authorization: `Bearer ${ADMIN_TOKEN}` }),
    ])
    return { public: own, admin }
  } finally {
    await service.stop()
  }
}

async function textOf(port: number, headers: Record<string, string>): Promise<string> {
  const reply = await fetch(`http://127.0.0.1:${port}/openapi.json`, { headers })
  if (!reply.ok) throw new Error(await reply.text())
  return `${JSON.stringify(await reply.json(), null, 2)}\n`
}
