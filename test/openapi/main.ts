import { writeFile } from 'node:fs/promises'
import { DOCUMENT_FILES, readDocuments } from './documents.ts'

// `npm run openapi`: writes the documents that are committed.
const documents = await readDocuments()
await writeFile(DOCUMENT_FILES.public, documents.public)
await writeFile(DOCUMENT_FILES.admin, documents.admin)
