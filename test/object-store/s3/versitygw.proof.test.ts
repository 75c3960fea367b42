import { inject } from 'vitest'
import { s3ServerSuite } from './server-suite.ts'

s3ServerSuite('versitygw', inject('versitygw'))
