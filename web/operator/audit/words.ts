import { messages } from '../../messages.ts'
import { type AuditMessages, auditEnglish } from './english.ts'

export const words: AuditMessages = messages.audit ?? auditEnglish
