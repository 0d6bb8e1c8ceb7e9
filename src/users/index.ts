/** Users: sign-in, sessions, memberships and invitations. */
export { addUser, createOwnTenant, setUserName } from "./accounts.ts";
export { checkEmail } from "./email.ts";
export {
  acceptInvitation,
  findInvitation,
  INVITATION_DAYS,
  invite,
  listInvitations,
  renewInvitation,
  revokeInvitation,
  type SentInvitation,
} from "./invitations.ts";
export { actorOf, canManage, changeRole, checkRole, listMembers, removeMember } from "./members.ts";
export {
  isTouchDue,
  listSessions,
  type Membership,
  readSession,
  revokeOtherSessions,
  revokeSession,
  type Session,
  SESSION_DAYS,
  touchSession,
} from "./sessions.ts";
export { CODE_MINUTES, finishSignIn, MAX_GUESSES, startSignIn } from "./sign-in.ts";
export { sweepPeople } from "./sweep.ts";
