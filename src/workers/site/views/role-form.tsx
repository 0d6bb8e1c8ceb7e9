import type { Role } from "../../../service/db/people-schema.ts";
import { Confirm, Form } from "./parts.tsx";

/**
 * Changes a member's role when it is saved. A change to or from owner is confirmed first: an owner can delete the team, and an arrow
 * key changes a list silently.
 */
export function RoleForm({ action, id, label, name, value, mayGrantOwner }: RoleFormProps) {
  if (value === "owner") {
    return (
      <>
        owner{" "}
        <Confirm
          label="Change …"
          subject={label}
          title={`Change the role of ${name}?`}
          question={`${name} will no longer be an owner. As an admin they keep all rights but those over owners and the team itself.`}
          action={action}
          button="Make them an admin"
        >
          <input type="hidden" name="role" value="admin" />
        </Confirm>
      </>
    );
  }
  return (
    <>
      <Form action={action} inline>
        <label for={id} class="sr">
          {label}
        </label>
        <select id={id} name="role">
          {(["member", "admin"] as const).map((role) => (
            <option value={role} selected={role === value}>
              {role}
            </option>
          ))}
        </select>{" "}
        <button type="submit">
          Save<span class="sr"> {label}</span>
        </button>
      </Form>{" "}
      {mayGrantOwner && (
        <Confirm
          label="Make owner …"
          subject={name}
          title={`Make ${name} an owner?`}
          question={`${name} will be able to do everything: change and remove other owners, you among them, and delete the team.`}
          action={`${action}?to=owner`}
          button={`Make ${name} an owner`}
        >
          <input type="hidden" name="role" value="owner" />
        </Confirm>
      )}
    </>
  );
}

interface RoleFormProps {
  action: string;
  id: string;
  label: string;
  /** Name of the member. */
  name: string;
  value: Role;
  /** Whether the user may make others owners. */
  mayGrantOwner: boolean;
}
