/** Mail providers behind one interface. */
export { createMailer } from "./create.ts";
export { invitationMail, signInMail } from "./messages.ts";
export { queueNotices } from "./notices.ts";
export { mailInsert, type QueuedMail, sealMail, sendMails } from "./outbox.ts";
export { type Mail, type Mailer, MailError } from "./types.ts";
