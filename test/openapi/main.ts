import { writeFile } from 'node:fs/promises'
import { DOCUMENT_FILES, makeDocuments } from './documents.ts'
import { recordRoutes } from './generator/recorded-routes.ts'

// `npm run openapi`: writes the documents that are committed.
const documents = await makeDocuments(await recordRoutes())
await writeFile(DOCUMENT_FILES.public, documents.public)
await writeFile(DOCUMENT_FILES.admin, documents.admin)
