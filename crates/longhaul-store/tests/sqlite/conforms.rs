//! Calls every promise of the conformance suite for SQLite, each over fresh data.

use super::SqliteHarness;
use super::conformance::{
    accounts, api_keys, bell, families, feed, history, keeping, keys, leases, moving, notices, refusals, sessions,
    submitting, summaries, tenants,
};

macro_rules! conforms {
    ($($group:ident: $($promise:ident),+;)+) => {
        $($(
            #[tokio::test(flavor = "multi_thread")]
            async fn $promise() {
                $group::$promise(&SqliteHarness::new()).await;
            }
        )+)+
    };
}

conforms! {
    accounts: a_limit_is_shared_with_the_change_that_reports_it, a_limit_is_cleared_by_whoever_knew_it,
        a_guess_does_not_shorten_a_reported_limit;
    api_keys: an_api_key_is_found_by_its_digest_alone, an_api_key_is_revoked_for_good,
        usable_api_keys_of_a_tenant_have_different_names;
    bell: the_bell_rings_for_another_handles_commits, the_bell_rings_for_every_listener_of_a_handle,
        the_bell_rings_when_it_is_rung;
    families: one_task_at_a_time_works_in_a_directory, the_task_in_progress_goes_before_the_older_one,
        a_child_goes_before_its_parent_and_a_family_before_strangers, a_task_in_the_worktree_of_another_waits_for_it,
        a_family_is_found_from_each_member, a_family_is_neither_larger_nor_deeper_than_it_may_be,
        the_limits_of_a_family_hold_under_concurrency, a_familys_limit_counts_sessions_of_agents_and_can_be_raised;
    feed: the_feed_has_every_event_in_the_order_of_commits, pages_of_the_feed_are_bounded_and_follow_each_other,
        a_reader_is_told_that_events_are_missing, a_tenants_feed_has_its_own_events;
    history: events_are_gap_free_and_in_order, the_newest_events_of_some_kinds_are_found, a_clock_that_goes_backwards_keeps_the_order,
        the_chain_is_the_documented_one, the_state_is_what_its_events_make,
        a_claiming_commit_changes_the_epoch_in_its_middle;
    keeping: outlines_say_what_the_tasks_say, outlines_are_filtered_by_end_and_age, a_finished_task_is_removed_whole,
        what_may_be_needed_is_not_removed, a_backup_is_whole_and_replaces_nothing;
    keys: a_key_names_one_request, a_key_is_bound_to_its_caller_operation_and_input,
        a_repeated_submission_is_answered_with_its_task, a_refused_change_uses_no_key, a_request_that_changes_nothing_uses_its_key,
        a_guessed_key_names_a_task_while_it_is_at_work, of_equal_submissions_at_once_one_is_made;
    leases: one_of_many_claimers_wins, an_old_lease_is_fenced_off, a_front_ends_change_is_a_conflict_to_the_owner,
        a_claim_needs_the_epoch_and_another_worker, a_claim_alone_may_ride_on_a_commit,
        the_lease_is_kept_while_there_is_work, the_lease_is_given_up_with_the_work;
    moving: concurrent_changes_of_one_task_are_all_kept, compare_and_set_lets_one_win,
        a_refused_change_does_not_fail_its_neighbours, acknowledged_order_is_stored_order;
    notices: a_notice_is_made_with_the_change_it_tells_of, one_of_many_claimers_of_a_notice_wins,
        a_notice_is_settled_by_its_claimer_alone, a_notice_that_is_given_back_counts_no_try,
        notices_go_with_their_task, the_newest_notices_of_a_task_are_read;
    refusals: a_refused_change_writes_nothing;
    sessions: the_session_cap_holds_under_concurrency, an_ended_session_makes_room, a_free_slot_is_the_first_in_lines,
        a_worker_can_be_passed_over, only_who_is_about_to_start_is_in_line, the_carrier_follows_the_driver;
    submitting: a_submitted_task_is_there_after_reopening, a_submission_with_a_claim_is_owned_at_once,
        an_unknown_task_is_absent_and_unchangeable, submitting_twice_makes_one_task,
        a_name_is_unique_among_unfinished_tasks_of_a_project, lists_are_newest_first_and_filtered,
        candidates_and_their_owners_are_found,
        news_are_the_tasks_that_moved_after_a_position, a_position_is_never_used_again;
    summaries: a_summary_carries_what_a_list_shows, a_summary_says_what_its_task_waits_for,
        a_summary_says_since_when_its_task_is_in_its_state, pages_follow_each_other_whatever_happens_between,
        summaries_are_filtered_by_agent_and_by_last_event, tasks_are_filtered_by_status_driver_and_age,
        a_tracked_run_is_never_claimed;
    tenants: another_tenants_task_is_answered_like_an_unknown_one, lists_show_one_tenant, names_and_keys_are_each_tenants_own,
        a_submission_under_another_tenants_id_is_a_conflict, turns_and_directories_name_no_other_tenants_task,
        limits_are_shown_to_the_tenant_that_reached_them, workers_see_every_tenant;
}
