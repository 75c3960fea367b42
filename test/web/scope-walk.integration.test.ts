import { scopeWalkSuite } from './scope-walk-suite.ts'

/** With and without the right to read, to upload and to share; all others are in the proof. */
scopeWalkSuite([
  { actions: ['read', 'create', 'replace', 'delete'], prefix: 'in-' },
  { actions: ['create', 'replace', 'history', 'share'], prefix: 'in-' },
])
