import { scopeWalkSuite } from './scope-walk-suite.ts'

const SCOPES = [
  ['read'],
  ['create'],
  ['replace'],
  ['delete'],
  ['history'],
  ['share'],
  ['read', 'delete', 'history'],
  ['read', 'create', 'replace', 'delete'],
  ['create', 'replace', 'history', 'share'],
  ['read', 'create', 'replace', 'delete', 'history', 'share'],
]

scopeWalkSuite(
  SCOPES.flatMap((actions) => {
    const limited = { actions, prefix: 'in-' } as const
    // What a prefix changes for one action it changes for several.
    return actions.length === 1 ? [limited] : [{ actions }, limited]
  }),
)
