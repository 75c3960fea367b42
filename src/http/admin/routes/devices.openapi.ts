import type { FastifyContextConfig } from 'fastify'
import { jsonRequestBody } from '../../openapi/json-request-body.ts'
import { CURSOR, LIMIT, USER_ID } from '../../openapi/parameters.ts'
import { ANY_CALL, ANY_WRITE, DEVICE_ID } from '../api.ts'

const common = {
  tag: 'devices',
  credentials: 'required',
  parameters: [USER_ID, DEVICE_ID],
  problems: [...ANY_CALL, 'not_found'],
} as const

const write = { ...common, problems: [...ANY_WRITE, 'not_found'] } as const

const EXAMPLE = {
  device_id: 'camera-17',
  model: 'camera-2',
  bytes: 5_368_709_120,
  created_at: '2026-11-21T12:00:00.000Z',
} as const

/** What the OpenAPI document says of each call. */
export const DEVICES = {
  join: {
    operation: {
      ...write,
      operationId: 'putDevice',
      summary: 'Let a device join, which grows the capacity',
      description: 'Repeating it counts once; the last terms count.',
      requestBody: jsonRequestBody({
        required: false,
        schema: {
          title: 'DeviceTerms',
          type: 'object',
          additionalProperties: false,
          properties: {
            model: { type: 'string', pattern: '^[ -~]{1,128}$' },
            bytes: {
              type: 'integer',
              minimum: 0,
              maximum: Number.MAX_SAFE_INTEGER,
              description:
                'What it adds to the capacity; without, what its model or any device does.',
            },
          },
        },
        example: { model: 'camera-2' },
      }),
      responses: {
        200: { description: 'It was there already and has these terms now.', example: EXAMPLE },
        201: { description: 'It has joined.', example: EXAMPLE },
      },
    },
  },
  leave: {
    operation: {
      ...write,
      operationId: 'deleteDevice',
      summary: 'Let a device leave, which shrinks the capacity and deletes nothing',
      responses: { 204: { description: 'It is not there, or not any more.' } },
    },
  },
  list: {
    operation: {
      ...common,
      operationId: 'listDevices',
      summary: "List a user's devices",
      parameters: [USER_ID, LIMIT, CURSOR],
      responses: {
        200: {
          description: 'A page of devices.',
          example: { devices: [EXAMPLE], next_cursor: null },
        },
      },
    },
  },
} as const satisfies Record<string, FastifyContextConfig>
