import {
  isOperatorName,
  type Operator as Entry,
  OPERATOR_ROLES,
  ROLE_MEANINGS,
} from '../../../core/operators/operator.ts'
import { formatTimestamp } from '../../../core/timestamp.ts'
import { describing } from '../../openapi/operation.ts'
import { OneOf, Page, Text, Time } from '../../openapi/reply-schemas.ts'
import { Type } from '../../openapi/type.ts'
import { PAGE_QUERY, readPage, textsOf } from '../../routes/pagination.ts'
import type { OperatorPlugin } from '../operator-plugin.ts'
import { NO_QUERY, OPERATOR_NAME } from '../route-schemas.ts'

export const operatorAccountRoutes: OperatorPlugin = async (
  app,
  { useCases: { operators }, audit },
) => {
  const collection = '/admin/operators'
  const one = `${collection}/:name`

  app.post(collection, OPERATORS.add, async (request, reply) => {
    const { name, role } = request.body
    const { token, ...operator } = await operators.add({ name, role })
    await audit(request, { action: 'operator.add', name, role })
    return reply.code(201).send({ ...toReply(operator), token })
  })

  app.get(collection, OPERATORS.list, async ({ query }) => {
    const { entries, next_cursor } = await readPage(query, {
      read: (key) => textsOf(key, 1)?.find(isOperatorName),
      list: (page) => operators.list(page),
      keyOf: ({ name }) => [name],
    })
    return { operators: entries.map(toReply), next_cursor }
  })

  app.get(one, OPERATORS.show, async ({ params }) => toReply(await operators.find(params.name)))

  app.delete(one, OPERATORS.remove, async (request, reply) => {
    const { name } = request.params
    await operators.remove(name)
    await audit(request, { action: 'operator.remove', name })
    return reply.code(204).send()
  })
}

function toReply({ name, role, createdAt }: Entry) {
  return { name, role, created_at: formatTimestamp(createdAt) }
}

const Role = OneOf(
  OPERATOR_ROLES,
  `${OPERATOR_ROLES.map((role) => `\`${role}\` ${ROLE_MEANINGS[role]}`).join('; ')}.`,
)

const Terms = Type.Object(
  { name: OPERATOR_NAME, role: Role },
  { title: 'OperatorTerms', additionalProperties: false },
)

const MEMBERS = {
  name: Text('The name, which the audit trail has.', 'dana'),
  role: Role,
  created_at: Time('When the operator was added.'),
}

const Operator = Type.Object(MEMBERS, { title: 'Operator' })

const IssuedOperator = Type.Object(
  { ...MEMBERS, token: Text('The bearer token of the operator.', 'cro_...') },
  { title: 'IssuedOperator' },
)

const OperatorPage = Page('OperatorPage', { operators: Type.Array(Operator) })

const ofOperators = describing({
  params: Type.Object({ name: OPERATOR_NAME }),
  querystring: NO_QUERY,
  tag: 'operators',
  problems: ['not_found'],
})

const ofAll = describing({ querystring: NO_QUERY, tag: 'operators' })

const OPERATORS = {
  add: ofAll({
    operationId: 'addOperator',
    summary: 'Add an operator',
    body: Terms,
    response: { 201: IssuedOperator },
    responses: { 201: 'The new operator. The token is shown only once.' },
    problems: ['operator_exists', 'operator_count_exceeded'],
  }),
  list: ofAll({
    operationId: 'listOperators',
    summary: 'List the operators by name, without their tokens',
    querystring: PAGE_QUERY,
    response: { 200: OperatorPage },
    responses: { 200: 'One page of operators.' },
  }),
  show: ofOperators({
    operationId: 'getOperator',
    summary: 'Get an operator',
    response: { 200: Operator },
    responses: { 200: 'The operator.' },
  }),
  remove: ofOperators({
    operationId: 'removeOperator',
    summary: 'Remove an operator',
    description: 'Every instance refuses the token and the sessions of the operator from now on.',
    responses: { 204: 'The operator is removed.' },
  }),
}
