import { describing } from '../../openapi/operation.ts'
import { VERSION } from '../../routes/history/past-version-resource.ts'

export const HISTORY = '/users/me/history'
export const PAST_VERSION = `${HISTORY}/:version`

export const ofHistory = describing({ tag: 'history' })

export const VERSION_PARAM = {
  type: 'string',
  format: 'uuid',
  description: 'The version of the file, as in its ETag.',
  examples: [VERSION],
} as const
