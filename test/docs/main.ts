import { writeFile } from 'node:fs/promises'
import { makePages } from './pages.ts'

// `npm run docs`: writes the pages that are committed.
for (const [file, text] of Object.entries(await makePages())) await writeFile(file, text)
