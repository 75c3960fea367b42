import { createFilesystemStore } from '../../../src/object-store/filesystem/store.ts'
import { createMemoryStore } from '../../support/memory-store.ts'
import { openEmbedded } from './embedded.ts'
import { verifyRaceSuite } from './race-suite.ts'
import { verifySuite } from './suite.ts'
import { verifyUploadsSuite } from './uploads-suite.ts'

const onFiles = () => openEmbedded((directory) => createFilesystemStore({ directory }))

verifySuite('SQLite and files', onFiles)
verifyUploadsSuite('SQLite and files', onFiles)
verifyRaceSuite('SQLite and memory', { open: () => openEmbedded(createMemoryStore), runs: 25 })
