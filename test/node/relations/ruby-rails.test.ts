import { expect, it } from "vitest";
import { callersOf } from "./support.ts";

const FILES = {
  "app/jobs/mail_job.rb": "class MailJob < ApplicationJob\n  def perform(a)\n  end\nend\n",
  "app/jobs/other_job.rb": "class OtherJob < ApplicationJob\n  def perform(a)\n  end\nend\n",
  "app/mailers/user_mailer.rb": "class UserMailer < ApplicationMailer\n  def welcome(a)\n  end\nend\n",
  "app/models/user.rb": "class User\n  def welcome(a)\n  end\n  def perform\n  end\nend\n",
  "app.rb": [
    "MailJob.perform_later(1)",
    "MailJob.set(wait: 5).perform_later(1)", // 2
    "OtherJob.perform_async(1)",
    "OtherJob.perform_in(5, 1)", // 4
    "UserMailer.welcome(1).deliver_later",
    "User.welcome(1)", // 6
    "User.perform_later",
  ].join("\n"),
};

it.each([
  ["MailJob#perform", ["app.rb:1 likely", "app.rb:2 likely"]],
  ["OtherJob#perform", ["app.rb:3 likely", "app.rb:4 likely"]],
  ["UserMailer#welcome", ["app.rb:5 likely", "app.rb:6 name"]],
])("Rails calls %s for the methods of its class", async (name, callers) => {
  expect(await callersOf(FILES, name)).toEqual(callers);
});
