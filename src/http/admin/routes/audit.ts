import {
  type ActionDetails,
  OPERATOR_ACTIONS,
  type OperatorAction as Entry,
} from '../../../core/audit/audit-ledger.ts'
import { isVersion } from '../../../core/objects/object-key.ts'
import { formatTimestamp } from '../../../core/timestamp.ts'
import { described } from '../../openapi/operation.ts'
import { Query } from '../../openapi/parameters.ts'
import { OneOf, Page, Text, TextOrNull, Time } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { PAGE_QUERY, readPage, textsOf } from '../../routes/pagination.ts'
import type { OperatorPlugin } from '../operator-plugin.ts'
import { OPERATOR_NAME, USER_PARAM } from '../route-schemas.ts'

export const auditRoutes: OperatorPlugin = async (app, { useCases: { auditTrail } }) => {
  app.get('/admin/audit', LIST, async ({ query }) => {
    const { entries, next_cursor } = await readPage(query, {
      read: (key) => textsOf(key, 1)?.find(isVersion),
      list: (page) => auditTrail.list({ userId: query.user_id, operator: query.operator, ...page }),
      keyOf: ({ actionId }) => [actionId],
    })
    return { actions: entries.map(toReply), next_cursor }
  })
}

function toReply(entry: Entry) {
  const { actionId, at, action, userId, operator, details, address, requestId } = entry
  return {
    action_id: actionId,
    at: formatTimestamp(at),
    action,
    user_id: userId ?? null,
    operator: operator ?? null,
    details,
    address: address ?? null,
    request_id: requestId ?? null,
  }
}

const OperatorAction = Type.Object(
  {
    action_id: Text('The id of the entry.', '019ab1c2-7d3e-7c41-9a55-0f6d1b2c3d4e'),
    at: Time('When it was recorded.'),
    action: OneOf(OPERATOR_ACTIONS, 'What was done.'),
    user_id: TextOrNull('The user whom it concerns; `null` for sessions and operators.', 'alice'),
    operator: TextOrNull(
      'The name of the operator; `null` for the `ADMIN_TOKEN` and the command line.',
      'dana',
    ),
    details: Type.Unsafe<ActionDetails>({
      type: 'object',
      additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
      description: 'The terms of the action, under the names that its call has for them.',
      examples: [{}],
    }),
    address: TextOrNull('The address of the client; `null` for the command line.', '203.0.113.7'),
    request_id: TextOrNull('The id of the request; `null` for the command line.'),
  },
  { title: 'OperatorAction', description: 'What an operator did.' },
)

const LIST = described({
  operationId: 'listOperatorActions',
  summary: 'List what operators did, newest first',
  description:
    'The service keeps the newest 100,000 actions, and none for more than 400 days. It keeps them when a user is purged.',
  tag: 'audit',
  querystring: Query({
    user_id: Type.Optional(USER_PARAM),
    operator: Type.Optional(OPERATOR_NAME),
    ...PAGE_QUERY.properties,
  }),
  response: { 200: Page('OperatorActionPage', { actions: Type.Array(OperatorAction) }) },
  responses: { 200: 'One page of actions.' },
})
