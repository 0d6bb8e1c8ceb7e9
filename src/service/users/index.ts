/** Users: sign-in, sessions, memberships and invitations. */
export { carryCredits } from "./account-credits.ts";
export { addUser, createOwnTenant, setUserName } from "./accounts.ts";
export { checkEmail } from "./email.ts";
export {
  acceptInvitation,
  findInvitation,
  INVITATION_DAYS,
  invite,
  type Invite,
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
export { CODE_MINUTES, finishSignIn, type KnownBrowser, MAX_GUESSES, MAX_WRONG_A_DAY, startSignIn } from "./sign-in.ts";
export { signInByEmail } from "./sign-in-by-email.ts";
export { readSignUp, type SignUp } from "./sign-up.ts";
export { sweepPeople } from "./sweep.ts";
export { newBrowserMark, readBrowserMark } from "./tokens.ts";
