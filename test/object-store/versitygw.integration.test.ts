import { inject } from 'vitest'
import { s3ServerSuite } from './s3-server-suite.ts'

s3ServerSuite('versitygw', inject('versitygw'))
